//! Whose everything is: the accounts and organisations of a plan, as few as will do, and called by where they come first.

use super::json;
use super::name::with_words;
use scenarios::plan::Plan;
use serde_json::Value;
use std::collections::BTreeMap;

/// What an owner is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owners {
    /// People.
    Accounts,
    /// What people belong to.
    Organizations,
}

impl Owners {
    /// The fields that name one, in stored values and in arguments of calls.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Accounts => &["accountId", "userId"],
            Self::Organizations => &["organizationId"],
        }
    }

    /// The name of the one of that number, from 1.
    fn name(self, number: usize) -> String {
        match self {
            Self::Accounts => format!("account-{number}"),
            Self::Organizations => format!("organization-{number}"),
        }
    }
}

/// All of them, in the order in which they come: of clients, then in stored values, then in arguments of calls.
pub fn owners(plan: &Plan, of: Owners) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !list.iter().any(|known| known == name) {
            list.push(name.to_owned());
        }
    };
    for client in &plan.clients {
        add(match of {
            Owners::Accounts => &client.account,
            Owners::Organizations => &client.organization,
        });
    }
    for (root, path) in json::places(plan) {
        let is_one = matches!(path.last(), Some(json::Segment::Name(name)) if of.fields().contains(&name.as_str()));
        if let Some(Value::String(name)) = json::at(plan, root, &path).filter(|_| is_one) {
            add(name);
        }
    }
    list
}

/// How many there are, and how many of them are not called by where they come first.
pub fn cost(plan: &Plan) -> (u64, u64) {
    let both = [Owners::Accounts, Owners::Organizations].map(|of| {
        let all = owners(plan, of);
        let misnamed = (1..).zip(&all).filter(|(number, name)| of.name(*number) != **name).count();
        (all.len() as u64, misnamed as u64)
    });
    (both[0].0 + both[1].0, both[0].1 + both[1].1)
}

/// The plan with a client in the account and the organisation of that number.
pub fn with_account(plan: &Plan, client: usize, number: usize) -> Option<Plan> {
    let mut changed = plan.clone();
    let client = changed.clients.get_mut(client)?;
    client.account = Owners::Accounts.name(number);
    client.organization = Owners::Organizations.name(number);
    Some(changed)
}

/// The plan in which one of them is the first one, everywhere.
pub fn merged(plan: &Plan, of: Owners, other: usize) -> Option<Plan> {
    let all = owners(plan, of);
    let names = BTreeMap::from([(all.get(other)?.clone(), all.first()?.clone())]);
    Some(rename(plan, of, &names))
}

/// The plan in which each is called by where it comes first, everywhere.
pub fn renamed(plan: &Plan) -> Plan {
    [Owners::Accounts, Owners::Organizations].into_iter().fold(plan.clone(), |plan, of| {
        let names = (1..).zip(owners(&plan, of)).map(|(number, name)| (name, of.name(number))).collect();
        rename(&plan, of, &names)
    })
}

/// The plan in which one of them is called by where it comes first; none when another is called so.
pub fn renamed_one(plan: &Plan, of: Owners, one: usize) -> Option<Plan> {
    let (all, name) = (owners(plan, of), of.name(one + 1));
    let is_free = !all.contains(&name);
    is_free.then(|| Some(rename(plan, of, &BTreeMap::from([(all.get(one)?.clone(), name)]))))?
}

fn rename(plan: &Plan, of: Owners, names: &BTreeMap<String, String>) -> Plan {
    let mut changed = with_words(plan, names);
    for client in &mut changed.clients {
        let owner = match of {
            Owners::Accounts => &mut client.account,
            Owners::Organizations => &mut client.organization,
        };
        if let Some(new) = names.get(owner) {
            owner.clone_from(new);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::catalog;
    use scenarios::seed::Seed;
    use serde_json::json;

    /// A client of one account, and a stored session of another whose record names both.
    fn plan() -> Plan {
        let mut plan = (catalog::find("alarm/unnamed-with-record").expect("it exists").plan)(Seed(7));
        plan.callers.clear();
        let drawn = (catalog::find("idle/stream-stays-open").expect("it exists").plan)(Seed(7));
        plan.clients = drawn.clients.into_iter().take(1).collect();
        (plan.clients[0].account, plan.clients[0].organization) = ("ann".into(), "organization-7".into());
        plan.storage.truncate(1);
        let record = json!({"userId": "account-12", "organizationId": "organization-7", "organizationName": "The organization-7 of account-12"});
        plan.storage[0].values = [("record".to_owned(), record)].into();
        plan
    }

    #[test]
    fn owners_are_called_by_where_they_come_first_wherever_they_stand() {
        assert_eq!(owners(&plan(), Owners::Accounts), ["ann", "account-12"]);
        assert_eq!(cost(&plan()), (3, 3));
        let renamed = renamed(&plan());
        assert_eq!(cost(&renamed), (3, 0));
        assert_eq!(renamed.clients[0].account, "account-1");
        let record = json!({"userId": "account-2", "organizationId": "organization-1", "organizationName": "The organization-1 of account-2"});
        assert_eq!(renamed.storage[0].values["record"], record);
        let merged = merged(&renamed, Owners::Accounts, 1).expect("there are two");
        assert_eq!((cost(&merged), merged.storage[0].values["record"]["userId"].clone()), ((2, 0), json!("account-1")));
    }
}
