//! Where a replay differs from its recording: event by event between two steps, field by field at a step.

use serde_json::Value;

/// One difference: what was recorded, what is here; one of them may be nothing.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    pub test: &'static str,
    pub place: String,
    pub recorded: Option<String>,
    pub here: Option<String>,
}

impl Difference {
    /// Both sides in one text, to find it by.
    pub fn text(&self) -> String {
        let (recorded, here) = (self.recorded.as_deref(), self.here.as_deref());
        format!("{}: recorded {}, here {}", self.place, recorded.unwrap_or("nothing"), here.unwrap_or("nothing"))
    }
}

/// What is here of an event that comes at another moment before the same step.
const MOVED: &str = "the same, at another moment";

/// Events up to a step, and the step; the last stretch has none.
type Stretch<'a> = (&'a [Value], Option<&'a Value>);

/// All differences of a test.
pub(super) fn differences(test: &'static str, recorded: &[Value], here: &[Value]) -> Vec<Difference> {
    let (recorded, here) = (stretches(recorded), stretches(here));
    let mut found = Vec::new();
    let mut note = |place: &str, recorded: Option<String>, here: Option<String>| {
        found.push(Difference { test, place: place.to_owned(), recorded, here });
    };
    for index in 0..recorded.len().max(here.len()) {
        let ours = here.get(index).copied().unwrap_or((&[], None));
        let theirs = recorded.get(index).copied().unwrap_or((&[], None));
        let place = title(theirs.1.or(ours.1));
        for (recorded, here) in unmatched(theirs.0, ours.0) {
            let is_moved = recorded.is_some() && here.is_some();
            let here = if is_moved { Some(MOVED.to_owned()) } else { here.map(Value::to_string) };
            note(&format!("before {place}"), recorded.map(Value::to_string), here);
        }
        fields(&place, theirs.1.unwrap_or(&Value::Null), ours.1.unwrap_or(&Value::Null), &mut note);
    }
    found
}

fn title(step: Option<&Value>) -> String {
    step.map_or("the end".to_owned(), |step| {
        format!("step {} {}", step["n"], step["what"].as_str().unwrap_or_default())
    })
}

fn stretches(events: &[Value]) -> Vec<Stretch<'_>> {
    let split = events.split_inclusive(|event| event["k"] == "step");
    split
        .map(|stretch| match stretch.split_last() {
            Some((step, before)) if step["k"] == "step" => (before, Some(step)),
            _ => (stretch, None),
        })
        .collect()
}

/// The fields in which two values differ, each with its path.
fn fields(path: &str, recorded: &Value, here: &Value, note: &mut impl FnMut(&str, Option<String>, Option<String>)) {
    match (recorded, here) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let missing = ours.keys().filter(|key| !theirs.contains_key(*key));
            for key in theirs.keys().chain(missing) {
                let (theirs, ours) = (theirs.get(key), ours.get(key));
                fields(&format!("{path}.{key}"), theirs.unwrap_or(&Value::Null), ours.unwrap_or(&Value::Null), note);
            }
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            for (index, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                fields(&format!("{path}.{index}"), theirs, ours, note);
            }
        }
        _ if recorded == here => {}
        _ => note(path, Some(recorded.to_string()), Some(here.to_string())),
    }
}

/// What is left of both sides when their longest common subsequence is taken out, in order. What is left on both of them
/// has moved, and is one difference.
fn unmatched<'a>(recorded: &'a [Value], here: &'a [Value]) -> Vec<(Option<&'a Value>, Option<&'a Value>)> {
    let mut left = outside_common(recorded, here);
    let mut index = 0;
    while let Some((recorded, here)) = left.get(index).copied() {
        let twin = |other: &(Option<&Value>, Option<&Value>)| match (recorded, here) {
            (Some(recorded), None) => other.1 == Some(recorded),
            (None, Some(here)) => other.0 == Some(here),
            _ => false,
        };
        if let Some(later) = left[index + 1..].iter().position(twin) {
            let (theirs, ours) = left.remove(index + 1 + later);
            left[index] = (recorded.or(theirs), here.or(ours));
        }
        index += 1;
    }
    left
}

fn outside_common<'a>(recorded: &'a [Value], here: &'a [Value]) -> Vec<(Option<&'a Value>, Option<&'a Value>)> {
    let (rows, columns) = (recorded.len(), here.len());
    let mut common = vec![vec![0_usize; columns + 1]; rows + 1];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            common[row][column] = if recorded[row] == here[column] {
                common[row + 1][column + 1] + 1
            } else {
                common[row + 1][column].max(common[row][column + 1])
            };
        }
    }
    let (mut row, mut column, mut left) = (0, 0, Vec::new());
    while row < rows || column < columns {
        if row < rows && column < columns && recorded[row] == here[column] {
            (row, column) = (row + 1, column + 1);
        } else if column == columns || (row < rows && common[row + 1][column] >= common[row][column + 1]) {
            left.push((Some(&recorded[row]), None));
            row += 1;
        } else {
            left.push((None, Some(&here[column])));
            column += 1;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_event_and_a_wrong_field_are_found() {
        let (a, b) = (json!({"k": "a"}), json!({"k": "b"}));
        let step = |count: u64| json!({"k": "step", "n": 1, "what": "await", "counts": {"resident": count}});
        let found = differences("T", &[a.clone(), b.clone(), step(1), a.clone()], &[b.clone(), step(2), a, b]);
        let texts: Vec<String> = found.iter().map(Difference::text).collect();
        assert_eq!(
            texts,
            [
                r#"before step 1 await: recorded {"k":"a"}, here nothing"#,
                "step 1 await.counts.resident: recorded 1, here 2",
                r#"before the end: recorded nothing, here {"k":"b"}"#,
            ]
        );
    }

    #[test]
    fn what_is_the_same_does_not_differ_and_an_order_does() {
        let (a, b) = (json!({"k": "a"}), json!({"k": "b"}));
        assert_eq!(differences("T", &[a.clone(), b.clone()], &[a.clone(), b.clone()]), []);
        let moved = differences("T", &[a.clone(), b.clone()], &[b, a]);
        assert_eq!(moved.iter().map(|each| each.here.as_deref()).collect::<Vec<_>>(), [Some(MOVED)]);
    }
}
