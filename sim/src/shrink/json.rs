//! What stands in the structured values of a plan: every field and list element by the way that leads to it, the value
//! without one of them, and the plainer value in place of one.

use scenarios::plan::Plan;
use serde_json::Value;

/// One step of the way from the outside in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A field of an object.
    Name(String),
    /// An element of a list.
    At(usize),
}

/// The way from the outside in.
pub type Path = Vec<Segment>;

/// A structured value of a plan; numbers are indexes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// The values of a stored object, the first step of a way being the key.
    Values(usize),
    /// The arguments of a caller's call.
    Arguments(usize, usize),
}

/// The text that stands where any text does.
const PLAIN: &str = "1";

/// All fields and list elements at any depth, what is whole before its parts.
pub fn parts(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    collect(value, &mut Vec::new(), &mut found);
    found
}

fn collect(value: &Value, within: &mut Path, found: &mut Vec<Path>) {
    let fields = value.as_object().into_iter().flatten().map(|(name, part)| (Segment::Name(name.clone()), part));
    let elements = value.as_array().into_iter().flatten().enumerate().map(|(at, part)| (Segment::At(at), part));
    for (segment, part) in fields.chain(elements) {
        within.push(segment);
        found.push(within.clone());
        collect(part, within, found);
        within.pop();
    }
}

fn step<'a>(value: &'a mut Value, segment: &Segment) -> Option<&'a mut Value> {
    match segment {
        Segment::Name(name) => value.get_mut(name),
        Segment::At(at) => value.get_mut(at),
    }
}

/// Takes a part out, or all of it where no way leads further; nothing when there is none any more.
pub fn remove(value: &mut Value, path: &[Segment]) {
    let Some((last, within)) = path.split_last() else {
        *value = Value::Null;
        return;
    };
    match (within.iter().try_fold(value, step), last) {
        (Some(Value::Object(object)), Segment::Name(name)) => drop(object.remove(name)),
        (Some(Value::Array(list)), Segment::At(at)) if *at < list.len() => drop(list.remove(*at)),
        _ => {}
    }
}

/// Every place of a plan that has structured values, with all that stands in it.
pub fn places(plan: &Plan) -> Vec<(Root, Path)> {
    let mut list = Vec::new();
    for (at, stored) in plan.storage.iter().enumerate() {
        for (key, value) in &stored.values {
            let of_key = |path: Path| std::iter::once(Segment::Name(key.clone())).chain(path).collect();
            let all = std::iter::once(Vec::new()).chain(parts(value)).map(of_key);
            list.extend(all.map(|path| (Root::Values(at), path)));
        }
    }
    for (at, caller) in plan.callers.iter().enumerate() {
        for (call, each) in caller.calls.iter().enumerate() {
            list.extend(parts(&each.arguments).into_iter().map(|path| (Root::Arguments(at, call), path)));
        }
    }
    list
}

/// What stands at a place, to be changed.
pub fn at_mut<'a>(plan: &'a mut Plan, root: Root, path: &[Segment]) -> Option<&'a mut Value> {
    match root {
        Root::Values(stored) => {
            let (Segment::Name(key), within) = path.split_first()? else { return None };
            within.iter().try_fold(plan.storage.get_mut(stored)?.values.get_mut(key)?, step)
        }
        Root::Arguments(caller, call) => {
            let arguments = &mut plan.callers.get_mut(caller)?.calls.get_mut(call)?.arguments;
            path.iter().try_fold(arguments, step)
        }
    }
}

/// What stands at a place.
pub fn at<'a>(plan: &'a Plan, root: Root, path: &[Segment]) -> Option<&'a Value> {
    let step = |value: &'a Value, segment: &Segment| match segment {
        Segment::Name(name) => value.get(name),
        Segment::At(at) => value.get(at),
    };
    match root {
        Root::Values(stored) => {
            let (Segment::Name(key), within) = path.split_first()? else { return None };
            within.iter().try_fold(plan.storage.get(stored)?.values.get(key)?, step)
        }
        Root::Arguments(caller, call) => {
            path.iter().try_fold(&plan.callers.get(caller)?.calls.get(call)?.arguments, step)
        }
    }
}

/// The plainest value of the same kind; none for what is plain, and for whole numbers, which have an order of their own.
fn plainer(value: &Value) -> Option<Value> {
    let plain = match value {
        Value::String(_) => Value::from(PLAIN),
        Value::Bool(_) => Value::from(false),
        Value::Number(number) if !number.is_u64() => Value::from(0),
        _ => return None,
    };
    (plain != *value).then_some(plain)
}

/// Every place whose text, truth or number is not the plainest of its kind.
pub fn rough(plan: &Plan) -> Vec<(Root, Path)> {
    let is_rough = |(root, path): &(Root, Path)| at(plan, *root, path).and_then(plainer).is_some();
    places(plan).into_iter().filter(is_rough).collect()
}

/// The plan with the plainest value of its kind at a place.
pub fn with_plain(plan: &Plan, root: Root, path: &[Segment]) -> Option<Plan> {
    let mut changed = plan.clone();
    let value = at_mut(&mut changed, root, path)?;
    *value = plainer(value)?;
    Some(changed)
}

/// Changes every text of a value, the names of fields included.
pub fn each_text(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(list) => list.iter_mut().for_each(|part| each_text(part, change)),
        Value::Object(fields) => {
            let changed = std::mem::take(fields).into_iter().map(|(name, mut part)| {
                each_text(&mut part, change);
                (change(&name), part)
            });
            *fields = changed.collect();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(path: &Path) -> String {
        let segments = path.iter().map(|segment| match segment {
            Segment::Name(name) => name.clone(),
            Segment::At(at) => at.to_string(),
        });
        segments.collect::<Vec<_>>().join(".")
    }

    #[test]
    fn each_part_is_found_and_can_go() {
        let value = json!({"a": {"b": 1, "c": {"d": []}}, "e": [{"f": 1}, 2]});
        let all = parts(&value);
        assert_eq!(all.iter().map(told).collect::<Vec<_>>(), ["a", "a.b", "a.c", "a.c.d", "e", "e.0", "e.0.f", "e.1"]);
        for path in &all {
            let mut cut = value.clone();
            remove(&mut cut, path);
            assert!(parts(&cut).len() < all.len(), "{path:?}");
        }
        let mut whole = value.clone();
        remove(&mut whole, &[]);
        assert_eq!(whole, json!(null), "arguments without a field are none");
        let name = |name: &str| Segment::Name(name.to_owned());
        for nowhere in [vec![name("a"), name("x"), name("y")], vec![name("e"), Segment::At(2)], vec![Segment::At(0)]] {
            let mut same = value.clone();
            remove(&mut same, &nowhere);
            assert_eq!(same, value);
        }
    }

    #[test]
    fn a_value_has_one_plainest_of_its_kind() {
        for (value, plain) in [
            (json!("x"), Some(json!("1"))),
            (json!("1"), None),
            (json!(true), Some(json!(false))),
            (json!(false), None),
            (json!(-2.5), Some(json!(0))),
            (json!(7), None),
            (json!(null), None),
            (json!({"a": "x"}), None),
        ] {
            assert_eq!(plainer(&value), plain, "{value}");
        }
    }

    #[test]
    fn texts_are_changed_wherever_they_stand() {
        let mut value = json!({"old1": ["old1", {"old1": 1}], "b": 2});
        each_text(&mut value, &|text| text.replace("old1", "s1"));
        assert_eq!(value, json!({"s1": ["s1", {"s1": 1}], "b": 2}));
    }
}
