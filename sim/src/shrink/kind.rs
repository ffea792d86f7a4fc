//! What is one word of a list: what a person decides, whose token it is, why something fails. Each has an order, and the
//! words before another are simpler.

use scenarios::plan::{Action, Effect, ErrorKind, Interruptible, Plan, ResetKind, Response, Token};

/// A word that stands where a less simple one did; indexes are those of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What a person decides: client, step.
    Response(usize, usize, Response),
    /// What a client presents: client, step.
    Token(usize, usize, Token),
    /// What an operation fails with.
    Error(usize, ErrorKind),
    /// Why an object is reset.
    Reset(usize, ResetKind),
    /// What is interrupted.
    Interrupt(usize, Interruptible),
}

const RESPONSES: [Response; 3] = [Response::Accept, Response::Decline, Response::Cancel];
const TOKENS: [Token; 6] =
    [Token::Own, Token::OtherAccount, Token::OtherOrganization, Token::Expired, Token::Revoked, Token::Suspended];
/// The plain errors first, then those that say what the platform did.
const ERRORS: [ErrorKind; 11] = [
    ErrorKind::Unknown,
    ErrorKind::InternalError,
    ErrorKind::Retryable,
    ErrorKind::StorageInternal,
    ErrorKind::StorageTimeout,
    ErrorKind::StartupInternalError,
    ErrorKind::CodeUpdate,
    ErrorKind::ConcurrencyReset,
    ErrorKind::CpuLimit,
    ErrorKind::MemoryLimit,
    ErrorKind::Destroyed,
];
const RESETS: [ResetKind; 5] =
    [ResetKind::CodeUpdate, ResetKind::Memory, ResetKind::Cpu, ResetKind::StorageTimeout, ResetKind::Moved];
const INTERRUPTIBLES: [Interruptible; 2] = [Interruptible::Init, Interruptible::Disposal];

fn before<T: PartialEq + Copy>(all: &[T], one: T) -> impl Iterator<Item = T> + '_ {
    all.iter().copied().take_while(move |each| *each != one)
}

/// Every word of a plan that can be a simpler one, with that one; as many as there are is what its words cost.
pub fn simpler(plan: &Plan) -> Vec<Kind> {
    let mut list = Vec::new();
    for (at, client) in plan.clients.iter().enumerate() {
        for (step, each) in client.steps.iter().enumerate() {
            match each.action {
                Action::Resume { response, .. } | Action::Decide { response, .. } => {
                    list.extend(before(&RESPONSES, response).map(|word| Kind::Response(at, step, word)));
                }
                Action::Present { token } => {
                    list.extend(before(&TOKENS, token).map(|word| Kind::Token(at, step, word)));
                }
                _ => {}
            }
        }
    }
    for (at, fault) in plan.faults.iter().enumerate() {
        match &fault.effect {
            Effect::Fail { error, .. } | Effect::Hold { fail: Some(error), .. } => {
                list.extend(before(&ERRORS, *error).map(|word| Kind::Error(at, word)));
            }
            Effect::Reset { kind } => list.extend(before(&RESETS, *kind).map(|word| Kind::Reset(at, word))),
            Effect::Interrupt { what } => {
                list.extend(before(&INTERRUPTIBLES, *what).map(|word| Kind::Interrupt(at, word)));
            }
            _ => {}
        }
    }
    list
}

/// The plan with that word.
pub fn with(plan: &Plan, kind: &Kind) -> Option<Plan> {
    let mut changed = plan.clone();
    match *kind {
        Kind::Response(client, step, word) => match &mut changed.clients.get_mut(client)?.steps.get_mut(step)?.action {
            Action::Resume { response, .. } | Action::Decide { response, .. } => *response = word,
            _ => return None,
        },
        Kind::Token(client, step, word) => match &mut changed.clients.get_mut(client)?.steps.get_mut(step)?.action {
            Action::Present { token } => *token = word,
            _ => return None,
        },
        Kind::Error(fault, word) => match &mut changed.faults.get_mut(fault)?.effect {
            Effect::Fail { error, .. } | Effect::Hold { fail: Some(error), .. } => *error = word,
            _ => return None,
        },
        Kind::Reset(fault, word) => match &mut changed.faults.get_mut(fault)?.effect {
            Effect::Reset { kind } => *kind = word,
            _ => return None,
        },
        Kind::Interrupt(fault, word) => match &mut changed.faults.get_mut(fault)?.effect {
            Effect::Interrupt { what } => *what = word,
            _ => return None,
        },
    }
    Some(changed)
}
