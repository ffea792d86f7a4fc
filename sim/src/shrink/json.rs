//! The fields of a structured value, each by the names that lead to it, and the value without one of them.

use super::element::Path;
use serde_json::Value;

/// All fields at any depth, what is whole before its parts; elements of lists are not among them.
pub fn fields(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    collect(value, &mut Vec::new(), &mut found);
    found
}

fn collect(value: &Value, within: &mut Path, found: &mut Vec<Path>) {
    for (name, field) in value.as_object().into_iter().flatten() {
        within.push(name.clone());
        found.push(within.clone());
        collect(field, within, found);
        within.pop();
    }
}

/// Takes a field out; nothing when there is none any more.
pub fn remove(value: &mut Value, path: &[String]) {
    let Some((last, within)) = path.split_last() else { return };
    let parent = within.iter().try_fold(value, |value, name| value.get_mut(name));
    if let Some(object) = parent.and_then(Value::as_object_mut) {
        object.remove(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_field_is_found_and_can_go() {
        let value = json!({"a": {"b": 1, "c": {"d": []}}, "e": [{"f": 1}]});
        let all = fields(&value);
        assert_eq!(all.iter().map(|path| path.join(".")).collect::<Vec<_>>(), ["a", "a.b", "a.c", "a.c.d", "e"]);
        for path in &all {
            let mut cut = value.clone();
            remove(&mut cut, path);
            assert!(fields(&cut).len() < all.len(), "{path:?}");
            assert!(!fields(&cut).contains(path));
        }
        let mut same = value.clone();
        remove(&mut same, &["a".to_owned(), "x".to_owned(), "y".to_owned()]);
        assert_eq!(same, value);
    }
}
