//! Good files made bad: a deterministic mutator of bytes and of JSON, driven by the project's own random streams.
//!
//! Method: a file is kept as bytes and, where it is JSON, as lines of trees that can hold what a map cannot, such as a key
//! twice. One file in three is changed byte by byte, the others in their trees, which keeps them close to what is accepted.

use scenarios::rng::Rng;
use serde_json::Value as Json;

/// Numbers that readers stumble over.
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "-1",
    "0.1",
    "1.0",
    "1e2",
    "1e400",
    "-1e400",
    "1e-400",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
];
/// Other values of every type, as JSON or nearly so.
const VALUES: [&str; 17] = [
    "null",
    "true",
    "false",
    "\"\"",
    "\"7\"",
    "[]",
    "{}",
    "[[]]",
    "{\"\":null}",
    "NaN",
    "Infinity",
    "'x'",
    "01",
    "+1",
    ".5",
    "\"\\ud800\"",
    "\"\\u0000\\u001b[31m\\u202e\"",
];
/// Bytes that are no text, or text that reads as something else.
const BYTES: [&[u8]; 12] = [
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xef\xbb\xbf",
    b"\0",
    b"\x1b[31m",
    b"\r\n",
    b"\"",
    b"\\",
    b"//x\n",
    b"\xe2\x80\xae",
];
/// The deepest nesting that is made: beyond what any reader allows.
const DEPTH_MAX: u64 = 400;
/// The longest text that is put in.
const LONG_MAX: u64 = 20_000;

/// A good file.
pub struct Base {
    bytes: Vec<u8>,
    lines: Vec<Tree>,
}

/// JSON that need not be well-formed.
#[derive(Clone)]
enum Tree {
    /// A scalar, as it is written.
    Raw(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Base {
    /// A file that is JSON, lines of JSON, or plain text.
    pub fn new(bytes: &[u8]) -> Self {
        let whole = serde_json::from_slice::<Json>(bytes).map(|json| vec![Tree::of(&json)]);
        let text = String::from_utf8_lossy(bytes);
        let lines = || text.lines().map(|line| serde_json::from_str(line).map(|json| Tree::of(&json))).collect();
        Self { bytes: bytes.to_vec(), lines: whole.or_else(|_| lines()).unwrap_or_default() }
    }

    /// The file as it is.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A bad file made of these good ones.
pub fn mutated(bases: &[Base], rng: &mut Rng) -> Vec<u8> {
    let base = rng.pick(bases);
    let count = 1 + rng.below(3);
    if base.lines.is_empty() || rng.chance(1, 3) {
        let mut bytes = base.bytes.clone();
        for _ in 0..count {
            change_bytes(&mut bytes, &rng.pick(bases).bytes, rng);
        }
        return bytes;
    }
    let mut lines = base.lines.clone();
    for _ in 0..count {
        change_lines(&mut lines, &rng.pick(bases).lines, rng);
    }
    let mut out = String::new();
    for line in &lines {
        line.write(&mut out);
        out.push('\n');
    }
    out.into_bytes()
}

fn change_bytes(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let at = place(bytes.len(), rng);
    match rng.below(10) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        1 if at < bytes.len() => bytes[at] = rng.below(256) as u8,
        2 => bytes.truncate(at),
        3 => {
            let part = span(bytes, rng).to_vec();
            insert(bytes, at, &part);
        }
        4 => {
            let end = at + (rng.below(20) as usize).min(bytes.len() - at);
            bytes.drain(at..end);
        }
        5 => {
            bytes.truncate(at);
            bytes.extend_from_slice(&other[place(other.len(), rng)..]);
        }
        6 => insert(bytes, at, span(other, rng)),
        7 => insert(bytes, at, BYTES[rng.below(BYTES.len() as u64) as usize]),
        8 => {
            let byte = *rng.pick(b"a0 [{\"\\/-");
            insert(bytes, at, &vec![byte; rng.below(LONG_MAX) as usize]);
        }
        _ => change_number(bytes, rng),
    }
}

/// Writes another number in the place of one.
fn change_number(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = place(bytes.len(), rng);
    let Some(begin) = bytes[at..].iter().position(u8::is_ascii_digit).map(|more| at + more) else { return };
    let end = bytes[begin..].iter().position(|byte| !byte.is_ascii_digit()).map_or(bytes.len(), |more| begin + more);
    bytes.splice(begin..end, rng.pick(&NUMBERS).bytes());
}

fn change_lines(lines: &mut Vec<Tree>, other: &[Tree], rng: &mut Rng) {
    let at = rng.below(lines.len() as u64) as usize;
    if lines.len() > 1 && rng.chance(1, 4) {
        match rng.below(3) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            _ => lines.swap(0, at),
        }
        return;
    }
    let part = other.get(rng.below(other.len().max(1) as u64) as usize);
    let part = part.map(|tree| tree.part(rng).clone());
    lines[at].change(part, rng);
}

impl Tree {
    fn of(json: &Json) -> Self {
        match json {
            Json::Array(items) => Tree::Array(items.iter().map(Tree::of).collect()),
            Json::Object(map) => Tree::Object(map.iter().map(|(key, value)| (key.clone(), Tree::of(value))).collect()),
            scalar => Tree::Raw(scalar.to_string()),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Tree::Raw(text) => out.push_str(text),
            Tree::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Tree::Object(pairs) => {
                out.push('{');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(&Json::from(key.as_str()).to_string());
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Some tree in this one.
    fn part(&self, rng: &mut Rng) -> &Tree {
        match self {
            Tree::Array(items) if !items.is_empty() && rng.chance(4, 5) => rng.pick(items).part(rng),
            Tree::Object(pairs) if !pairs.is_empty() && rng.chance(4, 5) => rng.pick(pairs).1.part(rng),
            tree => tree,
        }
    }

    /// Changes something in it; `other` is a tree of another file.
    fn change(&mut self, other: Option<Tree>, rng: &mut Rng) {
        match self {
            Tree::Array(items) if !items.is_empty() && rng.chance(4, 5) => {
                let at = rng.below(items.len() as u64) as usize;
                match rng.below(12) {
                    0 => items.insert(at, items[at].clone()),
                    1 => drop(items.remove(at)),
                    2 => items.swap(0, at),
                    _ => items[at].change(other, rng),
                }
            }
            Tree::Object(pairs) if !pairs.is_empty() && rng.chance(5, 6) => {
                let at = rng.below(pairs.len() as u64) as usize;
                match rng.below(16) {
                    0 => pairs.push(pairs[at].clone()),
                    1 => drop(pairs.remove(at)),
                    2 => pairs.push((text(rng), other.unwrap_or(Tree::Raw("1".to_owned())))),
                    3 => pairs[at].0 = text(rng),
                    4 => pairs.swap(0, at),
                    _ => pairs[at].1.change(other, rng),
                }
            }
            tree => *tree = tree.replaced(other, rng),
        }
    }

    /// What stands in the place of a tree.
    fn replaced(&self, other: Option<Tree>, rng: &mut Rng) -> Tree {
        match (self, rng.below(8)) {
            (_, 0) => Tree::Raw((*rng.pick(&VALUES)).to_owned()),
            (_, 1) => Tree::Raw((*rng.pick(&NUMBERS)).to_owned()),
            (_, 2) => other.unwrap_or(Tree::Array(Vec::new())),
            (_, 3) => Tree::Raw(Json::from(text(rng)).to_string()),
            (_, 4) if rng.chance(1, 4) => {
                let depth = rng.below(DEPTH_MAX) as usize;
                Tree::Raw("[".repeat(depth) + &"]".repeat(depth))
            }
            (Tree::Raw(text), _) if text.starts_with('"') && text.len() > 2 => near_text(text, rng),
            (Tree::Raw(text), _) => match text.parse::<u64>() {
                Ok(number) => Tree::Raw(number.wrapping_add(rng.below(5)).wrapping_sub(2).to_string()),
                Err(_) => Tree::Raw((*rng.pick(&NUMBERS)).to_owned()),
            },
            (tree, _) => Tree::Array(vec![tree.clone()]),
        }
    }
}

/// A text with one letter changed, which is still a text.
fn near_text(raw: &str, rng: &mut Rng) -> Tree {
    let mut letters: Vec<char> = serde_json::from_str::<String>(raw).unwrap_or_default().chars().collect();
    let at = place(letters.len(), rng);
    let letter =
        *rng.pick(&['a', 'Z', '0', '9', '.', '/', '-', '_', '#', '@', ' ', '\n', '\u{0}', '\u{1b}', 'é', '\u{10ffff}']);
    match rng.below(3) {
        0 if at < letters.len() => letters[at] = letter,
        1 if at < letters.len() => drop(letters.remove(at)),
        _ => letters.insert(at, letter),
    }
    Tree::Raw(Json::from(letters.into_iter().collect::<String>()).to_string())
}

/// A name or text, sometimes a long or nasty one.
fn text(rng: &mut Rng) -> String {
    match rng.below(6) {
        0 => "x".repeat(rng.below(LONG_MAX) as usize),
        1 => "\u{1b}[31m\n::error::".to_owned(),
        2 => "../../etc/passwd".to_owned(),
        3 => String::new(),
        4 => rng.next_u64().to_string(),
        _ => "version".to_owned(),
    }
}

/// A place in something of that length, its end included; ends are likelier than their share.
fn place(length: usize, rng: &mut Rng) -> usize {
    match rng.below(10) {
        0 => 0,
        1 => length,
        _ => rng.below(length as u64 + 1) as usize,
    }
}

/// Some part of the bytes.
fn span<'a>(bytes: &'a [u8], rng: &mut Rng) -> &'a [u8] {
    let begin = place(bytes.len(), rng);
    let end = begin + rng.below((bytes.len() - begin) as u64 + 1) as usize;
    &bytes[begin..end]
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    bytes.splice(at..at, part.iter().copied());
}
