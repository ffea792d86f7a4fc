//! Who a client says it is, and where its people are asked.

use serde::{Deserialize, Serialize};

/// Where a person is asked when code asks (session-core §2.23).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Elicitation {
    /// By the model, which resumes with what the person says.
    #[default]
    Model,
    /// By a page in the browser; a resume waits for what is decided there.
    Browser,
}

impl Elicitation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn is_default(&self) -> bool {
        *self == Elicitation::default()
    }
}

/// A token that a client presents: its own, or one that says something else of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Token {
    /// Its own.
    #[default]
    Own,
    /// One of another account of the same organisation.
    OtherAccount,
    /// One of the same account in another organisation.
    OtherOrganization,
    /// Its own, too old.
    Expired,
    /// One of an account whose access was revoked.
    Revoked,
    /// The same, with a code of the provider's own.
    Suspended,
}

impl Token {
    /// The words of the story.
    pub fn words(self) -> &'static str {
        match self {
            Token::Own => "its own token",
            Token::OtherAccount => "a token of another account",
            Token::OtherOrganization => "a token of another organization",
            Token::Expired => "an expired token",
            Token::Revoked => "a revoked token",
            Token::Suspended => "a suspended token",
        }
    }

    /// The bearer that a client of that account and organisation presents.
    pub fn bearer(self, account: &str, organization: &str) -> String {
        match self {
            Token::Own => format!("{account}.{organization}"),
            Token::OtherAccount => format!("other-{account}.{organization}"),
            Token::OtherOrganization => format!("{account}.other-{organization}"),
            Token::Expired => format!("expired-{account}.{organization}"),
            Token::Revoked => format!("revoked-{account}.{organization}"),
            Token::Suspended => format!("suspended-{account}.{organization}"),
        }
    }
}
