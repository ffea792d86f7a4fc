//! Small text work: escaping what comes from outside, and the nearest of known names.

use std::borrow::Cow;

/// Text from outside, safe to show: control characters and those that reorder or hide text are written as `\u{…}`.
///
/// Without this a plan file could move the cursor, recolour the terminal or forge lines of a report.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for each in text.chars() {
        match each {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            each if is_unsafe(each) => out.extend(each.escape_unicode()),
            each => out.push(each),
        }
    }
    Cow::Owned(out)
}

/// Control characters, line and paragraph separators, and the marks that reorder or hide what stands around them.
fn is_unsafe(each: char) -> bool {
    each.is_control()
        || matches!(each, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// At most `most` characters of a text from outside, safe to show, with `…` where something was left out.
pub fn shortened(text: &str, most: usize) -> String {
    let mut out: String = printable(text).chars().take(most + 1).collect();
    if out.chars().count() > most {
        out.pop();
        out.push('…');
    }
    out
}

/// The names closest to what was typed, at most three, nearest first; those too far away to be meant are left out.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed: String = typed.chars().take(100).collect();
    let limit = (typed.chars().count() / 3).max(2);
    let mut ranked: Vec<_> = known
        .into_iter()
        .map(|name| (distance(&typed, name), name))
        .filter(|(far, name)| *far <= limit || (typed.len() > 2 && name.contains(typed.as_str())))
        .collect();
    ranked.sort();
    ranked.into_iter().map(|(_, name)| name).take(3).collect()
}

/// The tail of a sentence about an unknown name: the nearest known ones, or else where to look.
pub fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>, where_to_look: &str) -> String {
    near_names(typed, known).unwrap_or_else(|| format!("see `{where_to_look}`"))
}

/// The same, if there are near names.
pub fn near_names<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let quoted: Vec<_> = nearest(typed, known).into_iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() {
        return None;
    }
    Some(format!("did you mean {}?", quoted.join(" or ")))
}

/// How many single-character edits lead from one text to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, from) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (at, to) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[at + 1];
            row[at + 1] = substituted.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[to.len()]
}

/// Lines of columns, each column as wide as its widest cell; `right` lists the columns that are set to the right.
pub fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width_of(at).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let width = widths[at];
            if right.contains(&at) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// Text that is nothing but text in Markdown, in a table too.
pub fn escaped_in_markdown(text: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for each in printable(text).chars() {
        // Names of commands stand between backticks, where only the bar still means something.
        in_code ^= each == '`';
        let means_something = if in_code { each == '|' } else { "|\\*_<>[]".contains(each) };
        if means_something {
            out.push('\\');
        }
        out.push(each);
    }
    out
}

/// `1 run`, `2 runs`.
pub fn counted<N: std::fmt::Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_reordering_marks_are_written_out() {
        assert_eq!(printable("plain → text"), "plain → text");
        assert_eq!(printable("\u{1b}[31mred\r\n"), "\\u{1b}[31mred\\r\\n");
        assert_eq!(printable("a\u{202e}b\u{9b}c\u{7f}"), "a\\u{202e}b\\u{9b}c\\u{7f}");
    }

    #[test]
    fn edits_are_counted() {
        for (from, to, edits) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("é", "e", 1)]
        {
            assert_eq!(distance(from, to), edits, "{from} {to}");
            assert_eq!(distance(to, from), edits, "{to} {from}");
        }
    }

    #[test]
    fn the_nearest_names_come_first_and_distant_ones_not_at_all() {
        let known = ["idle/stream-stays-open", "residency/cap-eviction", "restore/single-flight"];
        assert_eq!(nearest("idle/stream-stay-open", known), ["idle/stream-stays-open"]);
        assert_eq!(nearest("eviction", known), ["residency/cap-eviction"]);
        assert!(nearest("zzzzzzzzzz", known).is_empty());
        assert_eq!(did_you_mean("zzzzzzzzzz", known, "sim list scenarios"), "see `sim list scenarios`");
    }

    #[test]
    fn a_table_is_aligned_and_has_no_trailing_spaces() {
        let rows = [vec!["a".into(), "10".into(), "x".into()], vec!["long".into(), "7".into(), String::new()]];
        assert_eq!(table(&rows, &[1]), "a     10  x\nlong   7\n");
    }
}
