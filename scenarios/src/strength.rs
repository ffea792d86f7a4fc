//! Which claim is predicted to catch a defect, written down before the defect runs for the first time.

/// A prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// Name of the defect.
    pub defect: &'static str,
    /// Name of the invariant.
    pub predicted: &'static str,
}

const fn predicted(defect: &'static str, predicted: &'static str) -> Strength {
    Strength { defect, predicted }
}

/// One line a defect.
pub const STRENGTHS: &[Strength] = &[
    predicted("silent-connect-without-transport", "every-request-ends"),
    predicted("destroy-ungated", "ended-session-stays-ended"),
    predicted("post-acknowledges", "acknowledged-means-delivered"),
    predicted("acknowledged-on-enqueue", "acknowledged-means-delivered"),
    predicted("cursor-replays-others", "cursor-replay-is-exact"),
    predicted("listener-supersedes", "listeners-coexist"),
    predicted("no-priming-event", "calls-are-primed"),
    predicted("oversize-put-fatal", "live-write-survives-the-store"),
    predicted("newest-trimmed", "newest-event-is-kept"),
    predicted("backlog-unbounded", "bridge-backlog-is-bounded"),
    predicted("max-age-cuts-posts", "calls-keep-their-stream"),
    predicted("connect-waits-for-answer", "accept-never-waits"),
    predicted("answer-on-every-listener", "one-message-one-stream"),
    predicted("replay-unguarded", "one-replay-at-a-time"),
    predicted("wiped-session-revived", "ended-session-stays-ended"),
    predicted("wiped-session-restored", "refusals-are-told"),
];
