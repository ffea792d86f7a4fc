//! Where builds and settings of the runtime differ, a switch each: a plan says which habit its platform has.
//!
//! Every default is what the older build does here, so that a plan without switches means what it always did. The numbers
//! of facts are those of `model/PLATFORM.md`.

use serde::{Deserialize, Serialize};

/// The switches of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Switches {
    /// Whether an alarm that constructs its object brings the object's name (facts 7, 8, 11).
    #[serde(skip_serializing_if = "is_default")]
    pub cold_alarm_name: ColdAlarmName,
    /// What becomes of code whose object is reset from outside (facts 22, 109, 110).
    #[serde(skip_serializing_if = "is_default")]
    pub after_reset: AfterReset,
    /// What deleting everything does to the alarm (fact 62).
    #[serde(skip_serializing_if = "is_default")]
    pub delete_all: DeleteAll,
    /// What keeps an object from being evicted (fact 16).
    #[serde(skip_serializing_if = "is_default")]
    pub eviction: Eviction,
    /// When a code update resets an object (fact 24).
    #[serde(skip_serializing_if = "is_default")]
    pub code_update: CodeUpdate,
    /// What the other side of a socket sees of a reset (facts 143, 145).
    #[serde(skip_serializing_if = "is_default")]
    pub sockets_after_reset: SocketsAfterReset,
}

/// See [`Switches::cold_alarm_name`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColdAlarmName {
    /// As the build of the runtime does it: absent on the older, present on the newer.
    #[default]
    ByBuild,
    /// It does.
    Present,
    /// It does not.
    Absent,
}

/// See [`Switches::after_reset`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterReset {
    /// Nothing of it goes on.
    #[default]
    CutOff,
    /// It goes on for up to 30 s beside its successor, and only its storage rejects.
    Zombie,
}

/// See [`Switches::delete_all`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeleteAll {
    /// It stays.
    #[default]
    KeepsAlarm,
    /// It is deleted with the rest.
    DeletesAlarm,
}

/// See [`Switches::eviction`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eviction {
    /// Anything that it still does, timers and work in the background for 15 minutes each.
    #[default]
    IdleOnly,
    /// Calls, alarms and writes in progress only: timers and work in the background are cut off, 70 to 140 s after the last
    /// event (facts 13, 14).
    PendingWorkToo,
}

/// See [`Switches::code_update`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeUpdate {
    /// At once.
    #[default]
    Immediate,
    /// When it is idle, which then is no reset, or 300 s later.
    Deferred,
}

/// See [`Switches::sockets_after_reset`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketsAfterReset {
    /// A close with 1006.
    #[default]
    Closed,
    /// Nothing.
    Silent,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One switch put to one of its values.
pub struct Turned {
    /// Name of the switch, as plans write it.
    pub switch: &'static str,
    /// The value, as plans write it.
    pub value: &'static str,
    /// The number of facts that leave it open.
    pub facts: &'static [&'static str],
    put: fn(&mut Switches),
}

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
}

/// Every switch with every value, its default first.
pub const TURNED: &[Turned] = &[
    turned("cold_alarm_name", "by-build", &["7", "8", "11"], |s| s.cold_alarm_name = ColdAlarmName::ByBuild),
    turned("cold_alarm_name", "present", &["7", "8", "11"], |s| s.cold_alarm_name = ColdAlarmName::Present),
    turned("cold_alarm_name", "absent", &["7", "8", "11"], |s| s.cold_alarm_name = ColdAlarmName::Absent),
    turned("after_reset", "cut-off", &["22", "109", "110"], |s| s.after_reset = AfterReset::CutOff),
    turned("after_reset", "zombie", &["22", "109", "110"], |s| s.after_reset = AfterReset::Zombie),
    turned("delete_all", "keeps-alarm", &["62"], |s| s.delete_all = DeleteAll::KeepsAlarm),
    turned("delete_all", "deletes-alarm", &["62"], |s| s.delete_all = DeleteAll::DeletesAlarm),
    turned("eviction", "idle-only", &["16"], |s| s.eviction = Eviction::IdleOnly),
    turned("eviction", "pending-work-too", &["16"], |s| s.eviction = Eviction::PendingWorkToo),
    turned("code_update", "immediate", &["24"], |s| s.code_update = CodeUpdate::Immediate),
    turned("code_update", "deferred", &["24"], |s| s.code_update = CodeUpdate::Deferred),
    turned("sockets_after_reset", "closed", &["143", "145"], |s| s.sockets_after_reset = SocketsAfterReset::Closed),
    turned("sockets_after_reset", "silent", &["143", "145"], |s| s.sockets_after_reset = SocketsAfterReset::Silent),
];

const fn turned(
    switch: &'static str,
    value: &'static str,
    facts: &'static [&'static str],
    put: fn(&mut Switches),
) -> Turned {
    Turned { switch, value, facts, put }
}

impl Switches {
    /// Whether all stand at their defaults.
    pub fn is_default(&self) -> bool {
        is_default(self)
    }

    /// The switches that stand otherwise than by default.
    pub fn moved(&self) -> impl Iterator<Item = &'static str> {
        let defaults = || TURNED.iter().filter(|turned| turned.is_so(&Switches::default()));
        let switches = *self;
        defaults().filter(move |turned| !turned.is_so(&switches)).map(|turned| turned.switch)
    }

    /// The same with that switch at its default.
    pub fn without(self, switch: &str) -> Switches {
        let default = TURNED.iter().find(|turned| turned.switch == switch && turned.is_so(&Switches::default()));
        default.map_or(self, |turned| turned.put(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_switch_is_named_and_valued_as_plans_write_it() {
        for turned in TURNED {
            let switches = turned.put(Switches::default());
            let json = serde_json::to_string(&switches).expect("switches are plain");
            let expected = if turned.is_so(&Switches::default()) {
                "{}".to_owned()
            } else {
                format!("{{\"{}\":\"{}\"}}", turned.switch, turned.value)
            };
            assert_eq!(json, expected);
            assert_eq!(serde_json::from_str::<Switches>(&json).expect("it is read again"), switches);
        }
    }

    #[test]
    fn a_moved_switch_is_told_and_can_be_put_back() {
        for turned in TURNED.iter().filter(|turned| !turned.is_so(&Switches::default())) {
            let switches = turned.put(Switches::default());
            assert_eq!(switches.moved().collect::<Vec<_>>(), [turned.switch]);
            assert!(switches.without(turned.switch).is_default());
        }
        assert_eq!(Switches::default().moved().count(), 0);
    }

    #[test]
    fn an_unknown_switch_or_value_is_refused() {
        for json in [r#"{"colour":"red"}"#, r#"{"after_reset":"ghost"}"#] {
            assert!(serde_json::from_str::<Switches>(json).is_err(), "{json}");
        }
    }
}
