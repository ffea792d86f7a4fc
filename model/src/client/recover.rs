//! Asking for what a call that was cut should have answered: by the cursor that the client has, or by a fresh GET.

use super::answer::{read_answer, read_stream};
use super::bare::Client;
use super::reading::{Progress, is_success};
use super::{Asked, Cut, Op, Outcome, RequestOutcome};
use crate::net::http_client::HttpConnection;
use crate::net::timer::with_deadline;

/// A call whose client dropped its connection.
pub(super) struct CutCall {
    /// JSON-RPC ids of its requests.
    pub(super) ids: Vec<String>,
    /// The last event id of its stream, if one came.
    pub(super) cursor: Option<String>,
}

impl Client {
    /// One GET for the answers of the call that was cut last: after the last event that came of it, or without a cursor
    /// if there is none or it is to be `fresh`. Its body is read to the end.
    ///
    /// A later GET goes on after what this one brought.
    pub async fn recover(&self, fresh: bool, cut: Option<Cut>) -> RequestOutcome {
        let label = &self.config.label;
        let CutCall { ids, cursor: known } = self.cut_call.take().unwrap_or(CutCall { ids: Vec::new(), cursor: None });
        let cursor = known.clone().filter(|_| !fresh);
        let asked =
            Asked { op: Op::Recover, ids: &ids, cursor: cursor.as_deref(), of: None, session: None, patience_ms: None };
        let request = self.observer.request_begin(label, &asked);
        let progress = Progress::new(label, &*self.observer, &self.noticed, request, cut);
        let talk = self.ask_again(&ids, cursor.as_deref(), &progress);
        let outcome = match with_deadline(self.patience_ends_ms(), progress.unless_cut(talk)).await {
            Some(outcome) => outcome,
            None => Outcome::GaveUp { waiting_for: progress.waiting_for() },
        };
        if !matches!(outcome, Outcome::Answered(_)) && !ids.is_empty() {
            let cursor = progress.cursor.take().filter(|_| !fresh).or(known);
            *self.cut_call.borrow_mut() = Some(CutCall { ids, cursor });
        }
        let outcome = RequestOutcome { status: progress.status.get(), outcome };
        self.observer.request_end(label, request, &outcome);
        outcome
    }

    async fn ask_again(&self, ids: &[String], cursor: Option<&str>, progress: &Progress<'_>) -> Outcome {
        self.get_on("r", self.session().as_deref(), (ids, cursor), progress, || ()).await
    }

    /// A GET of its own connection for answers to `ids`, after a cursor where there is one; its body is read to the end.
    /// `attached` is called once a stream has come.
    pub(super) async fn get_on(
        &self,
        lane: &str,
        session: Option<&str>,
        (ids, cursor): (&[String], Option<&str>),
        progress: &Progress<'_>,
        attached: impl FnOnce(),
    ) -> Outcome {
        let mut http = self.request_in(session, Op::Recover, None);
        http.headers.extend(cursor.map(|cursor| ("last-event-id".to_owned(), cursor.to_owned())));
        let mut connection = match HttpConnection::connect(&self.config.label, lane, self.config.edge).await {
            Ok(connection) => connection,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
        let response = match connection.send(http).await {
            Ok(response) => response,
            Err(error) => return Outcome::Failed(error.text),
        };
        let status = response.status;
        progress.status.set(Some(status));
        self.observer.request_head(&self.config.label, progress.request, status, response.header("mcp-session-id"));
        if !is_success(status) {
            return read_answer(response, &[], progress).await.outcome;
        }
        attached();
        read_stream(response.body, ids, progress).await.outcome
    }
}
