//! A source file as the tidy tests look at it: whole, without comments and texts, and without its tests.

use std::path::{Path, PathBuf};

/// One file.
pub struct Source {
    /// Path below the checkout, with `/`.
    pub path: String,
    /// Everything.
    pub text: String,
    /// Everything but comments and texts, which are blank.
    pub code: String,
    /// The code without what is compiled for tests only.
    pub production: String,
}

/// One function.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Lines from its name to its closing brace.
    pub line_count: usize,
}

/// The checkout.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package lies in the workspace").to_owned()
}

/// A file as text.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Rust file of the three crates below `folder`, in order; all of them for an empty one.
pub fn sources(folder: &str) -> Vec<Source> {
    let mut files = Vec::new();
    let folders = if folder.is_empty() { vec!["model", "scenarios", "sim"] } else { vec![folder] };
    for folder in folders {
        collect(&root().join(folder), &mut files);
    }
    files.sort();
    let sources: Vec<Source> = files.iter().map(|file| Source::read(file)).collect();
    assert!(!sources.is_empty(), "{folder} has no source files");
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        // The fixture breaks rules on purpose.
        if path.is_dir() && !path.ends_with("lint-fixture") && !path.ends_with("target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

impl Source {
    fn read(file: &Path) -> Self {
        let text = read(file);
        let code = blanked(&text);
        let path = file.strip_prefix(root()).expect("below the checkout").to_string_lossy().replace('\\', "/");
        let production = if is_for_tests(file) { String::new() } else { without_tests(&code) };
        Self { path, text, code, production }
    }

    /// The name of the file without its ending.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.trim_end_matches(".rs")
    }

    /// The words of the production code.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.production.split(|each: char| !each.is_alphanumeric() && each != '_').filter(|word| !word.is_empty())
    }

    /// How often the code asks for this defect, by `defect!(…, Name)` or `Defect::Name`.
    pub fn defect_sites(&self, name: &str) -> usize {
        let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        let by_path = self.production.split(&format!("Defect::{name}")).skip(1).filter(|rest| is_end(rest)).count();
        let calls = self.production.split("defect!(").skip(1).filter_map(|call| call.split_once(')'));
        by_path + calls.filter(|(inside, _)| inside.rsplit(',').next().is_some_and(|last| last.trim() == name)).count()
    }

    /// The functions with a body.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        self.code.match_indices("fn ").filter_map(|(at, _)| {
            let is_word = !self.code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
            let rest = &self.code[at + 3..];
            let name: String = rest.chars().take_while(|each| each.is_alphanumeric() || *each == '_').collect();
            let open = rest.find(['{', ';']).filter(|open| rest[*open..].starts_with('{'))?;
            let body = balanced(&rest[open..])?;
            (is_word && !name.is_empty()).then(|| Function { name, line_count: rest[..open + body].lines().count() })
        })
    }
}

/// The length of a text from its opening brace to the closing one.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, each) in text.char_indices() {
        match each {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Whether the module of a file is declared for tests only.
fn is_for_tests(file: &Path) -> bool {
    let folder = file.parent().expect("a file lies in a folder");
    if folder.components().any(|part| part.as_os_str() == "tests") {
        return true;
    }
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = ["mod.rs", "lib.rs"].map(|name| folder.join(name));
    let parents = beside.into_iter().chain([folder.with_extension("rs")]);
    let declared = |parent: PathBuf| {
        let text = std::fs::read_to_string(parent).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let is_it =
            |line: &str| line.trim_start_matches("pub(crate) ").trim_start_matches("pub ") == format!("mod {stem};");
        lines.windows(2).any(|pair| pair[0].starts_with("#[cfg(test)]") && is_it(pair[1]))
    };
    parents.into_iter().any(declared) || (folder != root() && is_module_for_tests(folder))
}

/// Whether a folder belongs to a module for tests only.
fn is_module_for_tests(folder: &Path) -> bool {
    !folder.ends_with("src") && folder.parent().is_some_and(|parent| parent != root()) && is_for_tests(folder)
}

/// The code up to the test module at its end, and without single items for tests.
fn without_tests(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("#[cfg(test)]") {
        out.push_str(before);
        let open = after.find(['{', ';']).unwrap_or(after.len());
        let end = if after[open..].starts_with('{') { balanced(&after[open..]).unwrap_or(0) } else { 1 };
        rest = after.get(open + end..).unwrap_or("");
    }
    out + rest
}

/// The text with comments, texts and characters written as spaces; lines stay where they are.
fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = skipped(rest, &out).unwrap_or(0);
        if length == 0 {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            out.extend(rest[..length].chars().map(|each| if each == '\n' { '\n' } else { ' ' }));
            rest = &rest[length..];
        }
    }
    out
}

/// The length of the comment, text or character that begins here, in bytes.
fn skipped(rest: &str, before: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(rest.find("*/").map_or(rest.len(), |end| end + 2));
    }
    let is_prefix_of_name = before.ends_with(|each: char| each.is_alphanumeric() || each == '_');
    let raw = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('r').filter(|_| !is_prefix_of_name);
    if let Some(raw) = raw {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let begin = rest.len() - raw.len() + hashes + 1;
            return Some(rest[begin..].find(&close).map_or(rest.len(), |end| begin + end + close.len()));
        }
    }
    if rest.starts_with('"') {
        return Some(quoted(rest, '"').unwrap_or(rest.len()));
    }
    // A lifetime has no closing quote after one character.
    let character = rest.strip_prefix('\'')?;
    let first = character.chars().next()?;
    let is_character = first == '\\' || character[first.len_utf8()..].starts_with('\'');
    is_character.then(|| quoted(rest, '\'').unwrap_or(0))
}

/// The length of a text in quotes, with escapes.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, each) in rest.char_indices().skip(1) {
        match each {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if each == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}
