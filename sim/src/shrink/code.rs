//! The code of calls: its statements, and simpler code.

use scenarios::expect::statements;
use scenarios::plan::Action;

/// The simplest code that a call can have.
pub const PLAIN: &str = "return 1";

/// Its statements, if it is a call.
fn statements_of(action: &Action) -> Vec<String> {
    let code = action.code().unwrap_or_default();
    statements(code).map(str::trim).filter(|each| !each.is_empty()).map(str::to_owned).collect()
}

fn set(action: &mut Action, statements: &[String]) {
    if let Some(code) = action.code_mut() {
        *code = statements.join("; ");
    }
}

/// Its waits: index of the statement, and ms.
pub fn waits(action: &Action) -> Vec<(usize, u64)> {
    let wait = |statement: &String| statement.strip_prefix("wait ")?.trim().parse().ok();
    statements_of(action).iter().enumerate().filter_map(|(at, each)| Some((at, wait(each)?))).collect()
}

/// Makes a statement wait that long; nothing if there is no such statement.
pub fn set_wait(action: &mut Action, statement: usize, ms: u64) -> Option<()> {
    let mut list = statements_of(action);
    *list.get_mut(statement)? = format!("wait {ms}");
    set(action, &list);
    Some(())
}

/// How many statements a call has.
pub fn count(action: &Action) -> usize {
    statements_of(action).len()
}

/// Takes a statement out, but never the only one.
pub fn drop_statement(action: &mut Action, statement: usize) -> Option<()> {
    let mut list = statements_of(action);
    if list.len() < 2 || statement >= list.len() {
        return None;
    }
    list.remove(statement);
    set(action, &list);
    Some(())
}

/// Makes what a statement returns, shows or fails with as short as can be.
pub fn shorten_statement(action: &mut Action, statement: usize) -> Option<()> {
    let mut list = statements_of(action);
    let each = list.get_mut(statement)?;
    let word = each.split_whitespace().next()?;
    *each = match word {
        "return" | "emit" => format!("{word} 1"),
        "fail" => "fail \"1\"".to_owned(),
        _ => return None,
    };
    set(action, &list);
    Some(())
}

/// Has a call return that number and do nothing else.
pub fn make_plain(action: &mut Action, number: usize) -> Option<()> {
    *action.code_mut()? = format!("return {number}");
    Some(())
}

/// How far code is from the simplest: 0 for [`PLAIN`].
pub fn cost(action: &Action) -> u64 {
    match action.code() {
        Some(code) if code != PLAIN => 1 + code.len() as u64,
        _ => 0,
    }
}
