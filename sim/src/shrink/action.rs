//! What clients do: one order of how simple the actions are, each action in place of one that is less simple, and the
//! order of the steps of a client.

use super::code::PLAIN;
use scenarios::decision::DecisionName;
use scenarios::plan::{Action, Plan, Response, Token, client_of};

/// How far an action is from the simplest one.
fn rank(action: &Action) -> u64 {
    match action {
        Action::Ping {} => 0,
        Action::Call { .. } => 1,
        Action::Open {} => 2,
        Action::Stream {} => 3,
        Action::EndStream {} => 4,
        Action::Close {} => 5,
        Action::Post { .. } => 6,
        Action::Listen {} => 7,
        Action::Recover { .. } => 8,
        Action::Resume { .. } => 9,
        Action::Decide { .. } => 10,
        Action::Stall { .. } => 11,
        Action::Present { .. } => 12,
        Action::Adopt { .. } => 13,
    }
}

/// How far the steps of all clients are from the simplest.
pub fn cost(plan: &Plan) -> u64 {
    plan.clients.iter().flat_map(|client| &client.steps).map(|step| rank(&step.action)).sum()
}

/// Every simpler action that can stand in place of one, the simplest first: with what both have in common, and plain.
pub fn simpler(action: &Action) -> Vec<Action> {
    let code = action.code().unwrap_or(PLAIN);
    let overlaps = matches!(action, Action::Call { overlap: true, .. } | Action::Resume { overlap: true, .. });
    let call = |code: &str, overlap| Action::Call { code: code.to_owned(), overlap };
    let mut list = vec![Action::Ping {}, call(PLAIN, false), call(PLAIN, overlaps), call(code, overlaps)];
    list.extend([Action::Open {}, Action::Stream {}, Action::EndStream {}, Action::Close {}]);
    list.push(Action::Post { code: PLAIN.to_owned(), copies: 1, cut: None });
    list.extend([Action::Listen {}, Action::Recover { fresh: false, cut: None }]);
    if let Action::Decide { response, of } = action {
        list.push(Action::Resume { response: *response, of: of.clone(), overlap: false });
    }
    list.push(Action::Resume { response: Response::Accept, of: None, overlap: false });
    list.push(Action::Decide { response: Response::Accept, of: None });
    list.extend([Action::Stall { ms: 1 }, Action::Present { token: Token::Own }]);
    list.retain(|each| rank(each) < rank(action));
    list.dedup();
    list
}

/// The plan with another action in a step.
pub fn with(plan: &Plan, client: usize, step: usize, action: &Action) -> Option<Plan> {
    let mut changed = plan.clone();
    changed.clients.get_mut(client)?.steps.get_mut(step)?.action = action.clone();
    Some(changed)
}

/// What the steps of a client are ordered by: who it is, what it opens, then the simplest first.
pub fn key(action: &Action) -> (bool, u64, String) {
    let is_use = !matches!(action, Action::Present { .. } | Action::Adopt { .. } | Action::Open {});
    (is_use, rank(action), serde_json::to_string(action).unwrap_or_default())
}

/// The plan in which a step of a client is done at the time of the next one, and that at its time; pins go with them.
pub fn swapped(plan: &Plan, client: usize, first: usize) -> Option<Plan> {
    let mut changed = plan.clone();
    let each = changed.clients.get_mut(client)?;
    if first + 1 >= each.steps.len() {
        return None;
    }
    each.steps.swap(first, first + 1);
    let at_ms = each.steps[first].at_ms;
    each.steps[first].at_ms = each.steps[first + 1].at_ms;
    each.steps[first + 1].at_ms = at_ms;
    let name = each.name.clone();
    let renamed = |text: &String| {
        let mut pin = DecisionName::parse(text).filter(|pin| client_of(&pin.who) == name)?;
        pin.step = match pin.step as usize {
            step if step == first => pin.step + 1,
            step if step == first + 1 => pin.step - 1,
            _ => return None,
        };
        Some(pin.to_string())
    };
    changed.pins = plan.pins.iter().map(|(text, value)| (renamed(text).unwrap_or(text.clone()), *value)).collect();
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::catalog;
    use scenarios::plan::Step;
    use scenarios::seed::Seed;

    #[test]
    fn every_action_has_each_simpler_one_in_its_place() {
        let adopt = Action::Adopt { of: "s1".to_owned() };
        let names: Vec<&str> = simpler(&adopt).iter().map(Action::name).collect();
        let mut distinct = names.clone();
        distinct.dedup();
        assert_eq!(
            distinct,
            [
                "ping",
                "call",
                "open",
                "stream",
                "end_stream",
                "close",
                "post",
                "listen",
                "recover",
                "resume",
                "decide",
                "stall",
                "present"
            ]
        );
        assert!(simpler(&Action::Ping {}).is_empty());
        let post = Action::Post { code: "return 2".to_owned(), copies: 3, cut: None };
        let call = Action::Call { code: "return 2".to_owned(), overlap: false };
        assert!(simpler(&post).contains(&call));
        for each in simpler(&adopt) {
            assert!(simpler(&each).iter().all(|simpler| rank(simpler) < rank(&each)));
        }
    }

    #[test]
    fn swapped_steps_keep_the_times_and_take_their_pins_along() {
        let mut plan = (catalog::all().next().expect("a scenario").plan)(Seed(7));
        plan.clients.truncate(1);
        let step = |at_ms, action| Step { at_ms, action };
        plan.clients[0].steps = vec![step(0, Action::Open {}), step(5, Action::Close {}), step(9, Action::Ping {})];
        let pins = [("s1/commit@1#0", 1), ("s1/commit@2#0", 2), ("s1/commit@0#0", 3), ("s2/commit@1#0", 4)];
        plan.pins = pins.map(|(name, value)| (name.to_owned(), value)).into();
        let swapped = swapped(&plan, 0, 1).expect("there are two");
        assert_eq!(swapped.clients[0].steps[1..], [step(5, Action::Ping {}), step(9, Action::Close {})]);
        let pins = [("s1/commit@2#0", 1), ("s1/commit@1#0", 2), ("s1/commit@0#0", 3), ("s2/commit@1#0", 4)];
        assert_eq!(swapped.pins, pins.map(|(name, value)| (name.to_owned(), value)).into());
        assert_eq!(super::swapped(&plan, 0, 2), None);
    }
}
