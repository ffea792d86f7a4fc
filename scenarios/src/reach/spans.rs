//! Spans that the host exports, with what their attributes tell.
//!
//! Three spans of the description are not here, since code without a telemetry layer makes them and they are never
//! exported: the owner check's own, its restore's, and that of a candidate that the cap asks.

use super::Fact::{
    self, AskedToCall, AskedToEnd, AskedToResume, Building, Connected, DecisionTaken, Destroying, Disposing, FiresIdle,
    FiresPastPause, FiresPastRunning, InitFailed, Paused, PlansCrowd, PlansFaults, PlansMany, PlansResumes, Resident,
    Running, SomeAskedToGo, SomeCapReached, SomeDecided, SomeFault, SomeLeased, SomePaused, SomeQueued, SomeReset,
    SomeResuming,
};
use super::pattern::Is::{AtLeast, Flag, There, Word};
use super::pattern::Place::{Attribute, Field};
use super::{Pattern, Sometimes};

const SOURCE: &str = "§3.1";
const DISPOSE: &str = "mcp.session.idle_runtime_dispose";
const REASON: super::Place = Attribute("mcp.session.dispose_reason");
const RESET: super::Place = Attribute("mcp.do.reset_kind");
const FAILED: super::Place = Attribute("exception.type");
const PLATFORM: &str = "mcp.do.platform_failure";
const OPERATION: super::Place = Attribute("mcp.do.reset_operation");
const DIRECTORY: super::Place = Attribute("mcp.execution_owner.directory.operation");
const ACTION: super::Place = Attribute("mcp.execute.resume.action");
const PAUSE: super::Place = Attribute("mcp.execute.pause_source");

const fn row(name: &'static str, claim: &'static str, shown_by: &'static [Pattern], via: &'static [Fact]) -> Sometimes {
    Sometimes::events(name, SOURCE, claim, shown_by).via(via)
}

/// One line a row.
#[rustfmt::skip]
pub const ROWS: &[Sometimes] = &[
    row("span/init", "an init is exported", &[Pattern::span("McpSessionDO.init", &[])], &[Building]),
    row("span/init/remote-parent", "an init is exported under the trace of its client", &[Pattern::span("McpSessionDO.init", &[(Field("parent"), There)])], &[Building]),
    row("span/init/failed", "a failed init is exported with its exception", &[Pattern::span("McpSessionDO.init", &[(FAILED, There)])], &[PlansFaults, SomeFault, InitFailed]),
    row("span/init/reset", "an init that a reset ends is exported with its kind", &[Pattern::span("McpSessionDO.init", &[(RESET, There)])], &[PlansFaults, SomeFault, InitFailed]),
    row("span/init/cap-overflow", "an init over the cap with nothing to evict says so", &[Pattern::span("McpSessionDO.init", &[(Attribute("mcp.isolate.cap_overflow"), Flag(true))])], &[PlansCrowd, SomeCapReached]),
    row("span/resolve-and-store-meta", "the meta of an init is resolved", &[Pattern::span("mcp.session.resolve_and_store_meta", &[])], &[Building]),
    row("span/load-meta", "meta is loaded", &[Pattern::span("mcp.session.load_meta", &[])], &[Building]),
    row("span/save-meta", "meta is saved", &[Pattern::span("mcp.session.save_meta", &[])], &[Building]),
    row("span/persist-apps-enabled", "a capability that changed is saved", &[Pattern::span("mcp.session.persist_apps_enabled", &[(Attribute("mcp.artifact.apps_enabled"), Flag(true))])], &[Resident]),
    row("span/persist-apps-enabled/lost", "the loss of a capability is saved", &[Pattern::span("mcp.session.persist_apps_enabled", &[(Attribute("mcp.artifact.apps_enabled"), Flag(false))])], &[Resident]),
    row("span/mark-activity", "a touch is exported", &[Pattern::span("McpSessionDO.markActivity", &[])], &[Building]),
    row("span/mark-activity/reset", "a touch whose write met a reset is exported with its kind", &[Pattern::span("McpSessionDO.markActivity", &[(RESET, There)])], &[PlansFaults, SomeFault]),
    row("span/resolve-session-meta/props", "meta comes from the token", &[Pattern::span("McpSessionDOSqlite.resolveSessionMeta", &[(Attribute("mcp.session.meta_source"), Word("props"))])], &[Building]),
    row("span/resolve-session-meta/stored", "meta comes from the stored record", &[Pattern::span("McpSessionDOSqlite.resolveSessionMeta", &[(Attribute("mcp.session.meta_source"), Word("stored"))])], &[Building]),
    row("span/resolve-session-meta/database", "meta comes from the database", &[Pattern::span("McpSessionDOSqlite.resolveSessionMeta", &[(Attribute("mcp.session.meta_source"), Word("database"))])], &[Building]),
    row("span/resolve-organization", "the database is asked for an organisation", &[Pattern::span("mcp.session.resolve_organization", &[])], &[Building]),
    row("span/build-mcp-server", "a build is exported", &[Pattern::span("McpSessionDOSqlite.buildMcpServer", &[])], &[Building]),
    row("span/build-mcp-server/queued", "a build that waited for its permit says how long", &[Pattern::span("McpSessionDOSqlite.buildMcpServer", &[(Attribute("mcp.init.build_queue_ms"), AtLeast(1))])], &[PlansMany, SomeQueued]),
    row("span/build-mcp-server/queue-timeout", "a build that waited for its permit in vain says so", &[Pattern::span("McpSessionDOSqlite.buildMcpServer", &[(Attribute("mcp.init.build_queue_timeout"), Flag(true))])], &[PlansMany, SomeQueued]),
    row("span/make-execution-stack", "the execution stack of a build is exported", &[Pattern::span("McpSessionDOSqlite.makeExecutionStack", &[])], &[Building]),
    row("span/description-build", "the tool description of a build is exported", &[Pattern::span("mcp.execute.description.build", &[])], &[Building]),
    row("span/create-executor-mcp-server", "the server object of a build is exported", &[Pattern::span("McpSessionDOSqlite.createExecutorMcpServer", &[])], &[Building]),
    row("span/dispose/idle", "a disposal for idleness is exported", &[Pattern::span(DISPOSE, &[(REASON, Word("idle"))])], &[Resident, FiresIdle, Disposing]),
    row("span/dispose/cap", "a disposal for the cap is exported", &[Pattern::span(DISPOSE, &[(REASON, Word("cap"))])], &[PlansCrowd, SomeCapReached, SomeAskedToGo]),
    row("span/dispose/paused", "a disposal under a paused execution is exported", &[Pattern::span(DISPOSE, &[(Attribute("mcp.session.paused_execution_count"), AtLeast(1))])], &[Resident, Paused, FiresPastPause]),
    row("span/dispose/stream", "a disposal under an open stream is exported", &[Pattern::span(DISPOSE, &[(Attribute("mcp.session.active_stream_count"), AtLeast(1))])], &[Resident, Connected, FiresPastRunning]),
    row("span/ensure-runtime-for-approval", "the runtime for an approval is ensured", &[Pattern::span("McpSessionDO.ensure_runtime_for_approval", &[])], &[SomePaused, SomeResuming]),
    row("span/restore-runtime-for-approval", "a runtime is restored for an approval", &[Pattern::span("McpSessionDO.restore_runtime_for_approval", &[])], &[SomePaused, SomeResuming]),
    row("span/validate-approval-identity", "the identity of an approver is checked", &[Pattern::span("mcp.session.validate_approval_identity", &[])], &[SomePaused, SomeResuming]),
    row("span/get-paused-execution-for-approval", "a person looks at what waits for approval", &[Pattern::span("McpSessionDO.getPausedExecutionForApproval", &[])], &[SomePaused]),
    row("span/resume-execution-for-approval", "a person decides", &[Pattern::span("McpSessionDO.resumeExecutionForApproval", &[])], &[SomePaused]),
    row("span/resume-execution-for-model", "another session resumes an execution at its owner", &[Pattern::span("McpSessionDO.resumeExecutionForModel", &[])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/lease-start", "a lease of a pending approval starts", &[Pattern::span("McpSessionDO.pending_approval_lease.start", &[])], &[Resident, SomePaused]),
    row("span/lease-begin-resume", "a resume holds the timer of a lease", &[Pattern::span("McpSessionDO.pending_approval_lease.begin_resume", &[])], &[SomeLeased, AskedToResume]),
    row("span/lease-finish", "a resume gives a lease back", &[Pattern::span("McpSessionDO.pending_approval_lease.finish", &[])], &[SomeLeased, AskedToResume]),
    row("span/lease-expire", "a lease of a pending approval expires", &[Pattern::span("McpSessionDO.pending_approval_lease.expire", &[])], &[SomePaused, SomeLeased]),
    row("span/execute/pausable", "code runs that may pause", &[Pattern::span("mcp.execute", &[(Attribute("mcp.execute.mode"), Word("pausable"))])], &[Resident, AskedToCall]),
    row("span/execute/inline", "code runs that asks its client", &[Pattern::span("mcp.execute", &[(Attribute("mcp.execute.mode"), Word("inline"))])], &[Resident, AskedToCall]),
    row("span/execute-resume/accept", "an execution goes on as accepted", &[Pattern::span("mcp.execute.resume", &[(ACTION, Word("accept"))])], &[PlansResumes, Paused, SomeResuming]),
    row("span/execute-resume/decline", "an execution goes on as declined", &[Pattern::span("mcp.execute.resume", &[(ACTION, Word("decline"))])], &[PlansResumes, Paused, SomeResuming]),
    row("span/execute-resume/cancel", "an execution goes on as cancelled", &[Pattern::span("mcp.execute.resume", &[(ACTION, Word("cancel"))])], &[PlansResumes, Paused, SomeResuming]),
    row("span/execute-resume/replayed", "a resume of a settled execution gets its outcome again", &[Pattern::span("mcp.execute.resume", &[(Attribute("mcp.execute.resume.replayed"), Flag(true))])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/execute-resume/joined", "a resume joins one under way", &[Pattern::span("mcp.execute.resume", &[(Attribute("mcp.execute.resume.joined_inflight"), Flag(true))])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/code-exec", "code runs in the sandbox", &[Pattern::span("executor.code.exec", &[])], &[Resident, AskedToCall]),
    row("span/tool-execute", "a tool call is exported", &[Pattern::span("mcp.host.tool.execute", &[])], &[Resident, AskedToCall]),
    row("span/tool-execute/start", "the begin of a tool call is exported", &[Pattern::span("mcp.host.tool.execute.start", &[])], &[Resident, AskedToCall]),
    row("span/tool-execute/failed", "a tool call with a defect is exported with its exception", &[Pattern::span("mcp.host.tool.execute", &[(FAILED, There)])], &[Resident, AskedToCall]),
    row("span/tool-execute/paused", "a tool call that paused says so", &[Pattern::span("mcp.host.tool.execute", &[(PAUSE, Word("execute"))])], &[Resident, Running, SomePaused]),
    row("span/tool-resume", "a resume by the model is exported", &[Pattern::span("mcp.host.tool.resume", &[])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/tool-resume/start", "the begin of a resume by the model is exported", &[Pattern::span("mcp.host.tool.resume.start", &[])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/tool-resume/paused-again", "a resume that paused again says so", &[Pattern::span("mcp.host.tool.resume", &[(PAUSE, Word("resume"))])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/tool-resume-browser", "a resume that waits for a person's decision is exported", &[Pattern::span("mcp.host.tool.resume.browser_approval", &[])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/tool-resume-browser/start", "the begin of such a wait is exported", &[Pattern::span("mcp.host.tool.resume.browser_approval.start", &[])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/tool-resume-browser/decided", "a person's decision ends such a wait", &[Pattern::span("mcp.host.tool.resume.browser_approval", &[(ACTION, There)])], &[PlansResumes, SomePaused, SomeDecided]).when(&[DecisionTaken]),
    row("span/tool-resume-browser/paused-again", "what a person let go on paused again", &[Pattern::span("mcp.host.tool.resume.browser_approval", &[(PAUSE, Word("browser_resume"))])], &[PlansResumes, SomePaused, SomeDecided]),
    row("span/tool-resume-user-approval-required", "nobody decided in time", &[Pattern::span("mcp.host.tool.resume.user_approval_required", &[])], &[PlansResumes, SomePaused, SomeResuming]),
    row("span/platform-failure/validate", "the edge recognises a failure of the owner check", &[Pattern::span(PLATFORM, &[(OPERATION, Word("validate_session_owner"))])], &[PlansFaults, SomeFault, SomeReset]),
    row("span/platform-failure/fetch", "the edge recognises a failure of a session's fetch", &[Pattern::span(PLATFORM, &[(OPERATION, Word("session_fetch"))])], &[PlansFaults, SomeFault, SomeReset]),
    row("span/platform-failure/dead", "the edge learns that a session is dead", &[Pattern::span(PLATFORM, &[(Attribute("mcp.do.reset_disposition"), Word("session_dead"))])], &[AskedToEnd, Destroying]),
    row("span/directory-failure/put", "a failure to record an owner is exported", &[Pattern::span("McpSessionDO.pending_approval_lease.start", &[(DIRECTORY, Word("put"))])], &[SomePaused, SomeLeased, SomeFault]),
    row("span/directory-failure/get", "a failure to look an owner up is exported", &[Pattern::span("mcp.host.tool.resume", &[(DIRECTORY, Word("get"))]), Pattern::span("McpSessionDO.getPausedExecutionForApproval", &[(DIRECTORY, Word("get"))])], &[SomePaused, SomeResuming, SomeFault]),
    row("span/directory-failure/delete", "a failure to forget an owner is exported", &[Pattern::span("McpSessionDO.pending_approval_lease.finish", &[(DIRECTORY, Word("delete"))]), Pattern::span("McpSessionDO.pending_approval_lease.expire", &[(DIRECTORY, Word("delete"))]), Pattern::span("mcp.host.tool.resume", &[(DIRECTORY, Word("delete"))]), Pattern::span("McpSessionDO.resumeExecutionForModel", &[(DIRECTORY, Word("delete"))])], &[SomeLeased, SomeResuming, SomeFault]),
    row("span/forward-failure", "a failure to reach an owner is exported", &[Pattern::span("mcp.host.tool.resume", &[(Attribute("mcp.execution_owner.forward.owner_session_id"), There), (FAILED, There)])], &[PlansResumes, SomeResuming, SomeFault]),
    row("span/forward-timeout", "an owner that does not answer in time is exported", &[Pattern::span("mcp.host.tool.resume", &[(Attribute("mcp.execution_owner.forward.error"), Word("timeout"))])], &[PlansResumes, SomeResuming, SomeFault]),
];
