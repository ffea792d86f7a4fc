//! Where a replay parts from what was recorded: gates, outcomes, state and counters exactly, the rest as sets.

use serde_json::Value;

/// A difference, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What differs: `gates`, `settle`, `state`, `counters`, `events`.
    pub what: &'static str,
    /// Where within that.
    pub place: String,
    /// What was recorded; none for nothing.
    pub recorded: Option<String>,
    /// What is here.
    pub here: Option<String>,
}

impl Difference {
    /// In one line.
    pub fn text(&self) -> String {
        let side = |side: &Option<String>| side.as_deref().unwrap_or("nothing").to_owned();
        format!("{} {}: recorded {}, here {}", self.what, self.place, side(&self.recorded), side(&self.here))
    }
}

/// Compares two lists as sets in which a member may be there several times.
pub fn sets(what: &'static str, recorded: &[Value], here: &[Value]) -> Vec<Difference> {
    let mut left: Vec<&Value> = here.iter().collect();
    let mut differences = Vec::new();
    for event in recorded {
        match left.iter().position(|other| *other == event) {
            Some(index) => drop(left.remove(index)),
            None => {
                differences.push(Difference { what, place: kind(event), recorded: Some(event.to_string()), here: None })
            }
        }
    }
    let more = left.into_iter().map(|event| Difference {
        what,
        place: kind(event),
        recorded: None,
        here: Some(event.to_string()),
    });
    differences.extend(more);
    differences
}

/// Kind and name of an event.
fn kind(event: &Value) -> String {
    let named = event[1].as_str().filter(|_| event[0] == "span");
    [event[0].as_str(), named].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Compares what is to be the same, field by field where both are objects.
pub fn exactly(what: &'static str, place: &str, recorded: &Value, here: &Value) -> Vec<Difference> {
    match (recorded, here) {
        (Value::Object(fields), Value::Object(others)) => {
            let names = fields.keys().chain(others.keys().filter(|name| !fields.contains_key(*name)));
            let field = |name: &String| {
                let inside = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                let absent = Value::Null;
                let (recorded, here) = (fields.get(name).unwrap_or(&absent), others.get(name).unwrap_or(&absent));
                exactly(what, &inside, recorded, here)
            };
            names.flat_map(field).collect()
        }
        _ if recorded == here => Vec::new(),
        _ => vec![Difference {
            what,
            place: place.to_owned(),
            recorded: Some(recorded.to_string()),
            here: Some(here.to_string()),
        }],
    }
}
