//! Log lines that the host writes, with what they tell, and the kinds of resets that it recognises.

use super::Fact::{
    self, AlarmFires, AskedForStream, AskedToCall, AskedToEnd, AskedToResume, Building, Connected, Destroying,
    FiresIdle, InitFailed, LeaseTaken, Nameless, Paused, PlansCrowd, PlansFaults, PlansNameless, PlansResumes,
    Resident, Running, SomeAskedToGo, SomeCapReached, SomeFailed, SomeFault, SomeLeased, SomeListening, SomePaused,
    SomeReset, SomeResuming,
};
use super::pattern::Is::{Begins, There, Word};
use super::pattern::Place::Field;
use super::{Pattern, Sometimes};

const RESET: &str = "mcp_session_durable_object_reset";
const PLATFORM: &str = "mcp_durable_object_platform_failure";
const DIRECTORY: &str = "mcp_execution_owner_directory_error";
const FORWARD: &str = "mcp_model_resume_forward_error";
const ERROR: &str = "console.error";

const fn row(name: &'static str, claim: &'static str, shown_by: &'static [Pattern], via: &'static [Fact]) -> Sometimes {
    Sometimes::events(name, "§3.2", claim, shown_by).via(via)
}

/// A kind of reset, told by the session or by the edge.
const fn kind(name: &'static str, claim: &'static str, shown_by: &'static [Pattern]) -> Sometimes {
    Sometimes::events(name, "§4.1", claim, shown_by).via(&[PlansFaults, SomeFault])
}

/// One line a row.
#[rustfmt::skip]
pub const ROWS: &[Sometimes] = &[
    row("log/dispose/idle", "a disposal for idleness is told", &[Pattern::log("mcp_session_idle_runtime_dispose", &[(Field("reason"), Word("idle"))])], &[Resident, FiresIdle]),
    row("log/dispose/cap", "a disposal for the cap is told", &[Pattern::log("mcp_session_idle_runtime_dispose", &[(Field("reason"), Word("cap"))])], &[PlansCrowd, SomeCapReached, SomeAskedToGo]),
    row("log/paused-lease-extension", "a paused session is kept", &[Pattern::log("mcp_session_paused_lease_extension", &[])], &[Resident, Paused, FiresIdle]),
    row("log/running-lease-extension", "a running session is kept", &[Pattern::log("mcp_session_running_lease_extension", &[])], &[Resident, Running, FiresIdle]),
    row("log/unaddressable-alarm-cleanup", "an alarm without a name is cleaned up", &[Pattern::log("mcp_session_unaddressable_alarm_cleanup", &[])], &[PlansNameless, Nameless, AlarmFires]),
    row("log/reset/init", "an init meets a reset", &[Pattern::log(RESET, &[(Field("operation"), Word("init"))])], &[PlansFaults, SomeFault, InitFailed]),
    row("log/reset/init-mark-activity", "the touch of an init meets a reset and is absorbed", &[Pattern::log(RESET, &[(Field("operation"), Word("init.mark_activity"))])], &[PlansFaults, Building, SomeFault]),
    row("log/reset/validate-mark-activity", "the touch of an owner check meets a reset and is absorbed", &[Pattern::log(RESET, &[(Field("operation"), Word("validate_owner.mark_activity"))])], &[PlansFaults, Resident, SomeFault]),
    row("log/reset/lease-mark-activity", "the touch of a lease meets a reset and is absorbed", &[Pattern::log(RESET, &[(Field("operation"), Word("approval_lease.mark_activity"))])], &[PlansFaults, SomePaused, SomeFault]),
    row("log/cap-eviction-request-failed", "a request of the cap is lost", &[Pattern::log("mcp_session_cap_eviction_request_failed", &[])], &[PlansCrowd, SomeCapReached, SomeAskedToGo, SomeFault]),
    row("log/pending-approval-lease-expire", "a lease expires and declines", &[Pattern::log("mcp_pending_approval_lease_expire", &[])], &[SomePaused, LeaseTaken]),
    row("log/directory-error/put", "the directory does not take an owner", &[Pattern::log(DIRECTORY, &[(Field("operation"), Word("put"))])], &[PlansFaults, SomePaused, SomeLeased]),
    row("log/directory-error/get", "the directory does not tell an owner", &[Pattern::log(DIRECTORY, &[(Field("operation"), Word("get"))])], &[PlansFaults, SomePaused, SomeResuming]),
    row("log/directory-error/delete", "the directory does not forget an owner", &[Pattern::log(DIRECTORY, &[(Field("operation"), Word("delete"))])], &[PlansFaults, SomePaused, SomeLeased]),
    row("log/forward-error/timeout", "an owner does not answer a forwarded resume in time", &[Pattern::log(FORWARD, &[(Field("reason"), Word("timeout"))])], &[PlansResumes, SomePaused, AskedToResume, SomeFault]),
    row("log/forward-error/failed", "a forwarded resume fails", &[Pattern::log(FORWARD, &[(Field("exceptionType"), There)])], &[PlansResumes, SomePaused, AskedToResume, SomeFault]),
    row("log/post-response-wait-parse-failed/base64", "an internal header is no base64", &[Pattern::log("mcp_active_post_response_wait_parse_failed", &[(Field("reason"), Word("invalid_base64"))])], &[AskedToCall]),
    row("log/post-response-wait-parse-failed/json", "an internal header is no JSON", &[Pattern::log("mcp_active_post_response_wait_parse_failed", &[(Field("reason"), Word("invalid_json"))])], &[AskedToCall]),
    row("log/platform-failure/validate", "an owner check meets a platform failure", &[Pattern::log(PLATFORM, &[(Field("operation"), Word("validate_session_owner"))])], &[PlansFaults, SomeFault, SomeReset]),
    row("log/platform-failure/fetch", "a session's fetch meets a platform failure", &[Pattern::log(PLATFORM, &[(Field("operation"), Word("session_fetch"))])], &[PlansFaults, SomeFault, SomeReset]),
    row("log/platform-failure/dead", "a request meets a session that destroyed itself", &[Pattern::log(PLATFORM, &[(Field("disposition"), Word("session_dead"))])], &[AskedToEnd, Destroying]),
    row("log/sse-max-age-close", "a stream that is too old is rotated", &[Pattern::log("sse_max_age_close", &[])], &[AskedForStream, SomeListening, Connected]),
    row("log/event-store-put-failed", "an event cannot be stored", &[Pattern::log("mcp_event_store_put_failed", &[])], &[PlansFaults, Running, SomeFault]),
    row("log/event-store-skipped-oversize", "an event is too large to be stored", &[Pattern::log("mcp_event_store_skipped_oversize", &[])], &[Running]),
    row("log/event-store-evicted", "the oldest events of a stream are dropped", &[Pattern::log("mcp_event_store_evicted", &[])], &[Running]),
    row("log/error/init-failed", "an init fails for no known reason", &[Pattern::log(ERROR, &[(Field("text"), Begins("[mcp-session] init failed:"))])], &[SomeFault, SomeFailed]),
    row("log/error/cap-request-failed", "the failure of a request of the cap is printed", &[Pattern::log(ERROR, &[(Field("text"), Begins("[mcp-session] cap eviction request failed:"))])], &[PlansCrowd, SomeAskedToGo, SomeFault]),
    row("log/error/lease-start-failed", "a lease cannot start", &[Pattern::log(ERROR, &[(Field("text"), Begins("[mcp-session] pending approval lease start failed:"))])], &[PlansFaults, SomePaused, SomeFault]),
    row("log/error/lease-expiration-failed", "an expiry fails", &[Pattern::log(ERROR, &[(Field("text"), Begins("[mcp-session] pending approval lease expiration failed:"))])], &[PlansFaults, SomeLeased, SomeFault]),
    row("log/error/tool-defect", "a tool call has a defect", &[Pattern::log(ERROR, &[(Field("text"), Begins("[executor:mcp] execute defect correlation_id="))])], &[Resident, Running]),
    row("log/captured", "a failure that nobody recognised is captured", &[Pattern::log("captured", &[])], &[SomeFault]),
    Sometimes::events("log/captured/init", "§4.4", "the failure of an init is captured", &[Pattern::log("captured", &[])]).via(&[SomeFault]).when(&[Building]),
    kind("log/reset-kind/destroyed", "an object that destroyed itself is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("destroyed"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("destroyed"))])]),
    kind("log/reset-kind/code-update", "a deploy is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("code_update"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("code_update"))])]),
    kind("log/reset-kind/storage-timeout", "a storage time-out is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("storage_timeout"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("storage_timeout"))])]),
    kind("log/reset-kind/storage-internal", "an internal error of storage is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("storage_internal"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("storage_internal"))])]),
    kind("log/reset-kind/startup-internal-error", "an internal error while an object starts is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("startup_internal_error"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("startup_internal_error"))])]),
    kind("log/reset-kind/concurrency-reset", "a section that took too long is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("concurrency_reset"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("concurrency_reset"))])]),
    kind("log/reset-kind/cpu-limit", "the CPU limit is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("cpu_limit"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("cpu_limit"))])]),
    kind("log/reset-kind/internal-error", "an internal error with a reference is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("internal_error"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("internal_error"))])]),
    kind("log/reset-kind/retryable", "an error that only its flag marks as retryable is recognised", &[Pattern::log(RESET, &[(Field("resetKind"), Word("retryable"))]), Pattern::log(PLATFORM, &[(Field("resetKind"), Word("retryable"))])]),
];
