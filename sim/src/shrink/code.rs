//! The code of calls and of kept executions: where it stands, how far it is from the plainest, and simpler code.

use super::statement::Statement;
use scenarios::expect::statements;
use scenarios::plan::Plan;

/// The simplest code that a call can have.
pub const PLAIN: &str = "return 1";

/// What a statement costs that is not of the language, beyond its length: more than any other.
const UNREADABLE_COST: u64 = 1_000;

/// Where code stands; indexes are those of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// In a step: client, step.
    Step(usize, usize),
    /// In an execution that a stored object kept: object, execution.
    Paused(usize, usize),
}

/// Every place of code, in order. The number of a code is its place in this list, from 1.
pub fn spots(plan: &Plan) -> Vec<Spot> {
    let mut list = Vec::new();
    for (at, client) in plan.clients.iter().enumerate() {
        let steps = client.steps.iter().enumerate().filter(|(_, each)| each.action.code().is_some());
        list.extend(steps.map(|(step, _)| Spot::Step(at, step)));
    }
    for (at, stored) in plan.storage.iter().enumerate() {
        list.extend((0..stored.paused.len()).map(|paused| Spot::Paused(at, paused)));
    }
    list
}

/// The code at a spot.
pub fn of(plan: &Plan, spot: Spot) -> Option<&str> {
    match spot {
        Spot::Step(client, step) => plan.clients.get(client)?.steps.get(step)?.action.code(),
        Spot::Paused(stored, paused) => Some(&plan.storage.get(stored)?.paused.get(paused)?.code),
    }
}

/// The plan with other code at a spot.
pub fn with(plan: &Plan, spot: Spot, code: &str) -> Option<Plan> {
    let mut changed = plan.clone();
    let place = match spot {
        Spot::Step(client, step) => changed.clients.get_mut(client)?.steps.get_mut(step)?.action.code_mut()?,
        Spot::Paused(stored, paused) => &mut changed.storage.get_mut(stored)?.paused.get_mut(paused)?.code,
    };
    code.clone_into(place);
    Some(changed)
}

/// A part of code between two `;`: a statement, or what is none.
#[derive(Clone)]
enum Part {
    Known(Statement),
    Unknown(String),
}

fn parts(code: &str) -> Vec<Part> {
    let texts = statements(code).map(str::trim).filter(|text| !text.is_empty());
    texts.map(|text| Statement::parse(text).map_or_else(|| Part::Unknown(text.to_owned()), Part::Known)).collect()
}

fn written(parts: &[Part]) -> String {
    let texts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Known(statement) => statement.to_string(),
            Part::Unknown(text) => text.clone(),
        })
        .collect();
    texts.join("; ")
}

/// How far the code of that number is from the plainest.
fn cost(code: &str, own: u64) -> u64 {
    let parts = parts(code);
    let of_part = |part: &Part| match part {
        Part::Known(statement) => statement.cost(own),
        Part::Unknown(text) => UNREADABLE_COST + text.len() as u64,
    };
    // Code without a statement is shorter than the plainest, and needs more of an explanation.
    let of_parts = if parts.is_empty() { 2 } else { parts.iter().map(of_part).sum() };
    of_parts + u64::from(written(&parts) != code)
}

/// How far all code of a plan is from the plainest.
pub fn plan_cost(plan: &Plan) -> u64 {
    (1..).zip(spots(plan)).filter_map(|(own, spot)| Some(cost(of(plan, spot)?, own))).sum()
}

/// Every code that is one step simpler than the code of that number, the plainest first. A call that must be told from
/// the others returns its number.
pub fn simpler(code: &str, own: u64) -> Vec<String> {
    let before = cost(code, own);
    let parts = parts(code);
    let mut list = vec![PLAIN.to_owned(), format!("return {own}"), written(&parts)];
    if parts.len() > 1 {
        list.extend((0..parts.len()).map(|gone| {
            let mut kept = parts.clone();
            kept.remove(gone);
            written(&kept)
        }));
    }
    for (at, part) in parts.iter().enumerate() {
        let Part::Known(statement) = part else { continue };
        list.extend(statement.simpler(own).into_iter().map(|plainer| {
            let mut changed = parts.clone();
            changed[at] = Part::Known(plainer);
            written(&changed)
        }));
    }
    list.retain(|each| cost(each, own) < before);
    let mut seen = std::collections::BTreeSet::new();
    list.retain(|each| seen.insert(each.clone()));
    list
}

/// The plan in which each code calls what it says by its own number.
pub fn marked(plan: &Plan) -> Plan {
    let mut changed = plan.clone();
    for (own, spot) in (1..).zip(spots(plan)) {
        let Some(mut parts) = of(plan, spot).map(parts) else { continue };
        for part in &mut parts {
            if let Part::Known(statement) = part {
                statement.mark(own);
            }
        }
        changed = with(&changed, spot, &written(&parts)).unwrap_or(changed);
    }
    changed
}

/// Its whole numbers in order.
pub fn numbers(code: &str) -> Vec<u64> {
    let mut list = Vec::new();
    each_number(code, &mut |number| list.push(*number));
    list
}

/// The code with another number at that place among its numbers.
pub fn with_number(code: &str, place: usize, number: u64) -> String {
    let mut at = 0;
    each_number(code, &mut |each| {
        if at == place {
            *each = number;
        }
        at += 1;
    })
}

fn each_number(code: &str, change: &mut dyn FnMut(&mut u64)) -> String {
    let mut parts = parts(code);
    for part in &mut parts {
        if let Part::Known(statement) = part {
            statement.each_number(change);
        }
    }
    written(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the first simpler code that is allowed until none is.
    fn least(code: &str, own: u64, is_allowed: impl Fn(&str) -> bool) -> String {
        let mut code = code.to_owned();
        while let Some(next) = simpler(&code, own).into_iter().find(|each| is_allowed(each)) {
            assert!(cost(&next, own) < cost(&code, own), "{next}");
            code = next;
        }
        code
    }

    #[test]
    fn every_literal_becomes_the_same_whatever_was_drawn() {
        for (code, needed, expected) in [
            (r#"wait 7; return "s1-1-c8b6d31d-1""#, "return", "return 1"),
            (r#"return large 61398 "s1-3-1f3c65b7""#, "large", r#"return large 61398 "1""#),
            (r#"ask {"kind":"form","message":"s1-1-c8b6d31d-1"}"#, "ask", r#"ask {"kind":"form","message":"1"}"#),
            (
                r#"offer {"kind":"url","message":"m","url":"u","withinMs":5,"args":{"a":[true]}}; return answer"#,
                "offer",
                r#"offer {"kind":"form","message":"1"}"#,
            ),
            (r#"fail "s1-2-ab""#, "fail", r#"fail "1""#),
            (r#"emit {"a":["x;y",3]} ;wait 5;  return 2"#, "emit", "emit 1"),
            (r#"emit {"a":["x;y",3]}"#, "[", "emit []"),
            (r#"return "mark""#, "\"", r#"return "1""#),
            ("", "", "return 1"),
            ("jump  ; return 5", "jump", "jump"),
        ] {
            let is_allowed = |each: &str| each.contains(needed) && (needed != "[" || !each.contains("emit 1"));
            assert_eq!(least(code, 3, is_allowed), expected, "{code}");
        }
    }

    #[test]
    fn what_must_be_told_from_the_first_is_called_by_its_number() {
        let is_other = |each: &str| each != PLAIN && !each.contains("\"1\"");
        for (code, expected) in
            [("return \"mark\"", "return 3"), ("return 2", "return 3"), ("return 7; wait 5", "return 3")]
        {
            assert_eq!(least(code, 3, is_other), expected, "{code}");
        }
        let large = |each: &str| each.contains("large") && is_other(each);
        assert_eq!(least(r#"return large 5 "x1""#, 3, large), r#"return large 5 "3""#);
    }

    #[test]
    fn numbers_are_found_wherever_they_stand() {
        let code = r#"wait 20; emit [1,{"a":2.5}]; return large 61398 "x""#;
        assert_eq!(numbers(code), [20, 1, 61_398]);
        assert_eq!(with_number(code, 2, 100_000), r#"wait 20; emit [1,{"a":2.5}]; return large 100000 "x""#);
        assert_eq!(with_number(code, 2, 5_000_000), r#"wait 20; emit [1,{"a":2.5}]; return large 4000000 "x""#);
    }
}
