//! Every switch with every value, and the facts that prove the platform to have it.

use super::switches::{
    AfterReset, CodeUpdate, ColdAlarmName, DeleteAll, Eviction, ForeignWrite, GetAlarm, LargeValues, ResetAlarm,
    Runtime, SectionTimers, SocketsAfterReset, Switches,
};

/// One switch put to one of its values.
pub struct Turned {
    /// Name of the switch, as plans write it.
    pub switch: &'static str,
    /// The value, as plans write it.
    pub value: &'static str,
    /// The facts which show that the platform may do so: a number; in brackets those of its sources that show this value,
    /// when others show another; `by analogy` where they saw it of something else. None where it was only measured.
    pub facts: &'static [&'static str],
    put: fn(&mut Switches),
}

/// The value is what the build does: nothing of its own to prove.
const BY_BUILD: &[&str] = &["by build"];

impl Turned {
    /// These switches with this one turned.
    pub fn put(&self, mut switches: Switches) -> Switches {
        (self.put)(&mut switches);
        switches
    }

    /// Whether it stands so already.
    pub fn is_so(&self, switches: &Switches) -> bool {
        self.put(*switches) == *switches
    }

    /// Whether it stands so in a plan that says nothing.
    pub fn is_default(&self) -> bool {
        self.is_so(&Switches::default())
    }

    /// Whether it leaves the value to the build of the runtime.
    pub fn is_by_build(&self) -> bool {
        self.facts == BY_BUILD
    }
}

/// Every switch with every value, those of one switch together.
pub const TURNED: &[Turned] = &[
    turned("cold_alarm_name", "by-build", BY_BUILD, |s| s.cold_alarm_name = ColdAlarmName::ByBuild),
    turned("cold_alarm_name", "present", &["8"], |s| s.cold_alarm_name = ColdAlarmName::Present),
    turned("cold_alarm_name", "absent", &["7"], |s| s.cold_alarm_name = ColdAlarmName::Absent),
    turned("after_reset", "cut-off", &["110"], |s| s.after_reset = AfterReset::CutOff),
    turned("after_reset", "zombie", &["109"], |s| s.after_reset = AfterReset::Zombie),
    turned("after_reset", "by-build", BY_BUILD, |s| s.after_reset = AfterReset::ByBuild),
    turned("delete_all", "keeps-alarm", &["62 [R:S4]"], |s| s.delete_all = DeleteAll::KeepsAlarm),
    turned("delete_all", "deletes-alarm", &["62 [RF:S4]"], |s| s.delete_all = DeleteAll::DeletesAlarm),
    turned("eviction", "idle-only", &["16 [R:EV2]"], |s| s.eviction = Eviction::IdleOnly),
    turned("eviction", "pending-work-too", &["16 [D:changelog 2026-10-01, I:cloudflare/cloudflare-docs#33454]"], |s| {
        s.eviction = Eviction::PendingWorkToo
    }),
    turned("code_update", "immediate", &["24"], |s| s.code_update = CodeUpdate::Immediate),
    turned("code_update", "deferred", &["24"], |s| s.code_update = CodeUpdate::Deferred),
    turned("sockets_after_reset", "closed", &["143"], |s| s.sockets_after_reset = SocketsAfterReset::Closed),
    turned("sockets_after_reset", "silent", &["145 [R26:SSE3] by analogy"], |s| {
        s.sockets_after_reset = SocketsAfterReset::Silent
    }),
    turned("section_timers", "by-build", BY_BUILD, |s| s.section_timers = SectionTimers::ByBuild),
    turned("section_timers", "jammed", &["33 [R26:G6]"], |s| s.section_timers = SectionTimers::Jammed),
    turned("section_timers", "free", &["33 [R11:G6]"], |s| s.section_timers = SectionTimers::Free),
    turned("reset_alarm", "by-build", BY_BUILD, |s| s.reset_alarm = ResetAlarm::ByBuild),
    turned("reset_alarm", "counted", &["84 by analogy"], |s| s.reset_alarm = ResetAlarm::Counted),
    turned("reset_alarm", "spared", &["86 [R11:A27]"], |s| s.reset_alarm = ResetAlarm::Spared),
    turned("large_values", "by-build", BY_BUILD, |s| s.large_values = LargeValues::ByBuild),
    turned("large_values", "refused", &["55 [R26:S1]"], |s| s.large_values = LargeValues::Refused),
    turned("large_values", "kept", &["55 [R11:S1]"], |s| s.large_values = LargeValues::Kept),
    turned("foreign_write", "by-build", BY_BUILD, |s| s.foreign_write = ForeignWrite::ByBuild),
    turned("foreign_write", "hangs", &["122"], |s| s.foreign_write = ForeignWrite::Hangs),
    turned("foreign_write", "throws", &["122"], |s| s.foreign_write = ForeignWrite::Throws),
    turned("get_alarm", "by-build", BY_BUILD, |s| s.get_alarm = GetAlarm::ByBuild),
    turned("get_alarm", "three-trips", &[], |s| s.get_alarm = GetAlarm::ThreeTrips),
    turned("get_alarm", "two-trips", &[], |s| s.get_alarm = GetAlarm::TwoTrips),
    turned("runtime", "production", &["13"], |s| s.runtime = Runtime::Production),
    turned("runtime", "local", &["15 [R:EV1]", "83"], |s| s.runtime = Runtime::Local),
];

const fn turned(
    switch: &'static str,
    value: &'static str,
    facts: &'static [&'static str],
    put: fn(&mut Switches),
) -> Turned {
    Turned { switch, value, facts, put }
}
