//! Comparing what a replay answered with what was recorded.

use serde_json::Value;

/// A part of a recorded answer that no replay can give.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    /// The probe.
    pub id: &'static str,
    /// Fields from the top, joined by dots; `*` is every field or item.
    pub path: &'static str,
    /// Why.
    pub why: &'static str,
}

/// Takes what lies at `path` out of `value`; true when there was something.
pub fn leave_out(value: &mut Value, path: &str) -> bool {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match rest {
        None => take(value, first),
        Some(rest) => {
            inside(value, first).into_iter().filter_map(|each| leave_out(each, rest).then_some(())).count() > 0
        }
    }
}

fn take(value: &mut Value, name: &str) -> bool {
    match value {
        Value::Object(fields) if name == "*" => !std::mem::take(fields).is_empty(),
        Value::Object(fields) => fields.remove(name).is_some(),
        Value::Array(items) if name == "*" => !std::mem::take(items).is_empty(),
        // The others keep their places.
        Value::Array(items) => {
            name.parse().ok().and_then(|index: usize| items.get_mut(index)).map(Value::take).is_some()
        }
        _ => false,
    }
}

fn inside<'a>(value: &'a mut Value, name: &str) -> Vec<&'a mut Value> {
    match value {
        Value::Object(fields) => {
            fields.iter_mut().filter(|(field, _)| name == "*" || *field == name).map(|(_, each)| each).collect()
        }
        Value::Array(items) if name == "*" => items.iter_mut().collect(),
        _ => Vec::new(),
    }
}

/// Whether the simulated answer is one of those that were seen, apart from what is left out, and from the order of keys in
/// JSON that is text: a body, or the data of an event.
pub fn agrees(seen: &[Value], simulated: &Value, left_out: &[LeftOut]) -> bool {
    let mut simulated = simulated.clone();
    sort_keys(&mut simulated);
    let is_it = |real: &Value| {
        let mut real = without(real, left_out);
        sort_keys(&mut real);
        real == simulated
    };
    seen.iter().any(is_it)
}

/// Writes the JSON within texts in one order of keys.
fn sort_keys(value: &mut Value) {
    match value {
        Value::String(text) => {
            let sorted = text.split_inclusive('\n').map(sorted_line).collect::<String>();
            *text = sorted;
        }
        Value::Array(items) => items.iter_mut().for_each(sort_keys),
        Value::Object(fields) => fields.values_mut().for_each(sort_keys),
        _ => {}
    }
}

fn sorted_line(line: &str) -> String {
    let (mark, text) = line.strip_prefix("data: ").map_or(("", line), |text| ("data: ", text));
    match serde_json::from_str::<Value>(text) {
        Ok(json @ Value::Object(_)) => {
            let end = if text.ends_with('\n') { "\n" } else { "" };
            format!("{mark}{json}{end}")
        }
        _ => line.to_owned(),
    }
}

/// Whether they agree in everything but what lies at the excused paths, and each of these is needed for that.
pub fn agrees_but_for(seen: &[Value], simulated: &Value, left_out: &[LeftOut], excused: &[&str]) -> (bool, bool) {
    let but_for = |paths: &[&str]| {
        let cut = |value: &Value| {
            let mut value = value.clone();
            for path in paths {
                leave_out(&mut value, path);
            }
            value
        };
        agrees(&seen.iter().map(cut).collect::<Vec<_>>(), &cut(simulated), left_out)
    };
    let is_needed = |index: usize| {
        let others = [&excused[..index], &excused[index + 1..]].concat();
        !but_for(&others)
    };
    (but_for(excused), (0..excused.len()).all(is_needed))
}

/// A recorded answer without what is left out.
pub fn without(real: &Value, left_out: &[LeftOut]) -> Value {
    let mut real = real.clone();
    for LeftOut { path, .. } in left_out {
        leave_out(&mut real, path);
    }
    real
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn out(path: &'static str) -> LeftOut {
        LeftOut { id: "P", path, why: "a test" }
    }

    #[test]
    fn any_value_that_was_seen_will_do_and_no_other() {
        let seen = [json!({"a": 1}), json!({"a": 2})];
        assert!(agrees(&seen, &json!({"a": 2}), &[]));
        for other in [json!({"a": 3}), json!({}), json!({"a": 1, "b": null}), json!(null)] {
            assert!(!agrees(&seen, &other, &[]), "{other}");
        }
    }

    #[test]
    fn keys_of_json_within_texts_have_no_order_and_all_else_has() {
        let event = |data: &str| [json!([format!("id: 1\ndata: {data}\n\n")])];
        let real = event(r#"{"result":{"b":1,"a":[2,1]},"id":1}"#);
        let same = |data: &str| agrees(&real, &event(data)[0], &[]);
        assert!(same(r#"{"id":1,"result":{"a":[2,1],"b":1}}"#));
        for other in [r#"{"id":2,"result":{"a":[2,1],"b":1}}"#, r#"{"id":1,"result":{"a":[1,2],"b":1}}"#, "no JSON"] {
            assert!(!same(other), "{other}");
        }
    }

    #[test]
    fn a_path_takes_out_what_it_names_and_nothing_else() {
        let real = json!({"a": [{"t": 1, "n": 1}, {"t": 2, "n": 2}], "t": 3});
        assert_eq!(without(&real, &[out("a.*.t")]), json!({"a": [{"n": 1}, {"n": 2}], "t": 3}));
        assert_eq!(without(&real, &[out("t"), out("a.*")]), json!({"a": []}));
        let mut same = real.clone();
        assert!(!leave_out(&mut same, "a.t") && !leave_out(&mut same, "b.*") && same == real);
    }

    #[test]
    fn an_excuse_is_for_what_it_names_only_and_for_no_more_than_differs() {
        let seen = [json!({"a": {"b": 1, "c": 1}, "l": [1, 2]})];
        let check = |simulated: Value, paths: &[&str]| agrees_but_for(&seen, &simulated, &[], paths);
        assert_eq!(check(json!({"a": {"c": 1}, "l": [1, 2]}), &["a.b"]), (true, true), "absent on one side");
        assert_eq!(check(json!({"a": {"b": 1, "c": 1}, "l": [1, 9]}), &["l.1"]), (true, true));
        assert!(!check(json!({"a": {"b": 2, "c": 2}, "l": [1, 2]}), &["a.b"]).0, "the rest is compared");
        assert_eq!(check(json!({"a": {"b": 2, "c": 1}, "l": [1, 2]}), &["a.b", "l.0"]), (true, false));
        assert_eq!(check(seen[0].clone(), &["a.b"]), (true, false), "in vain");
    }

    #[test]
    fn what_is_left_out_must_not_be_answered_either() {
        assert!(!agrees(&[json!({"a": 1, "t": 5})], &json!({"a": 1, "t": 5}), &[out("t")]));
    }
}
