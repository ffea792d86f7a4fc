//! Bearer to identity, by a call to the identity provider.

use std::rc::Rc;
use std::sync::Arc;

use super::exchange::Exchange;
use crate::platform::JsError;
use crate::session::upstream;

crate::operations! {
    AUTHENTICATE = "edge · auth.authenticate", Io, 0, assumed; "the identity provider"
}

/// Who a bearer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bearer {
    pub account_id: Arc<str>,
    pub organization_id: Arc<str>,
}

/// What authentication comes to. Only `Forbidden` condemns a session (I29).
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Authenticated(Bearer),
    Unauthorized,
    Forbidden {
        /// The provider's own code, if it gives one.
        code: Option<i64>,
        /// What the client is told.
        message: &'static str,
    },
    Unavailable,
}

/// Asks the identity provider. A lost connection to it is an outcome; any other failure is the handler's own.
pub(super) async fn authenticate(exchange: &Rc<Exchange>) -> Result<Outcome, JsError> {
    match upstream::answer_after(&AUTHENTICATE, exchange.peer(), "latency.auth").await {
        Ok(()) => Ok(read_bearer(exchange.header("authorization"))),
        Err(error) if error.retryable => Ok(Outcome::Unavailable),
        Err(error) => Err(error),
    }
}

/// Code of the provider for an account that it has suspended.
const SUSPENDED: i64 = -32004;

/// The provider's directory: a bearer is `<account>.<organization>`; tokens of accounts that begin with `expired-` are too
/// old, accounts that begin with `revoked-` lost access, those that begin with `suspended-` did so with a code of the
/// provider's own.
fn read_bearer(header: Option<&str>) -> Outcome {
    let token = header.and_then(|header| header.strip_prefix("Bearer "));
    let Some((account, organization)) = token.and_then(|token| token.split_once('.')) else {
        return Outcome::Unauthorized;
    };
    if account.is_empty() || organization.is_empty() || account.starts_with("expired-") {
        Outcome::Unauthorized
    } else if account.starts_with("revoked-") {
        Outcome::Forbidden { code: None, message: "Access revoked" }
    } else if account.starts_with("suspended-") {
        Outcome::Forbidden { code: Some(SUSPENDED), message: "Account suspended" }
    } else {
        Outcome::Authenticated(Bearer { account_id: account.into(), organization_id: organization.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_names_its_account_and_organization() {
        let bearer = Bearer { account_id: "a1".into(), organization_id: "org1".into() };
        assert_eq!(read_bearer(Some("Bearer a1.org1")), Outcome::Authenticated(bearer));
        let revoked = Outcome::Forbidden { code: None, message: "Access revoked" };
        assert_eq!(read_bearer(Some("Bearer revoked-a1.org1")), revoked);
        let suspended = Outcome::Forbidden { code: Some(-32004), message: "Account suspended" };
        assert_eq!(read_bearer(Some("Bearer suspended-a1.org1")), suspended);
    }

    #[test]
    fn anything_else_is_unauthorized() {
        let expired = Some("Bearer expired-a1.org1");
        for header in
            [None, Some(""), Some("a1.org1"), Some("Bearer a1"), Some("Bearer .org1"), Some("Bearer a1."), expired]
        {
            assert_eq!(read_bearer(header), Outcome::Unauthorized, "{header:?}");
        }
    }
}
