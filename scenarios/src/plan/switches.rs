//! Where builds and settings of the runtime differ, a switch each: a plan says which habit its platform has.
//!
//! What two builds of the runtime were seen to do differently is as the plan's build does it, unless its switch says
//! otherwise. What becomes of code after a reset is not among these by default: in production either happens, and worlds
//! draw it (fact 217). The numbers of facts are those of `model/PLATFORM.md`.

use super::RuntimeBuild;
use super::turned::TURNED;
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
    /// What a timer from before a section does to the timers inside it (fact 33).
    #[serde(skip_serializing_if = "is_default")]
    pub section_timers: SectionTimers,
    /// Whether a reset from outside counts as a failure of the alarm that runs (facts 85, 86).
    #[serde(skip_serializing_if = "is_default")]
    pub reset_alarm: ResetAlarm,
    /// What becomes of a value over 2 MB (fact 55).
    #[serde(skip_serializing_if = "is_default")]
    pub large_values: LargeValues,
    /// What a write to another context's connection does (fact 122).
    #[serde(skip_serializing_if = "is_default")]
    pub foreign_write: ForeignWrite,
    /// What `getAlarm` costs (measured).
    #[serde(skip_serializing_if = "is_default")]
    pub get_alarm: GetAlarm,
    /// Where the runtime runs: on a developer's machine idle objects go after ten seconds, and an alarm that is set while a
    /// retry waits is run by that retry (facts 15, 16, 83).
    #[serde(skip_serializing_if = "is_default")]
    pub runtime: Runtime,
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
    /// As the build of the runtime does it on a developer's machine: a zombie on the older, cut off on the newer.
    ByBuild,
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

/// See [`Switches::section_timers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SectionTimers {
    /// As the build of the runtime does it: jammed on the older, free on the newer.
    #[default]
    ByBuild,
    /// It blocks them while it is due.
    Jammed,
    /// Nothing.
    Free,
}

/// See [`Switches::reset_alarm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetAlarm {
    /// As the build of the runtime does it: counted on the older, spared on the newer.
    #[default]
    ByBuild,
    /// It does.
    Counted,
    /// It does not.
    Spared,
}

/// See [`Switches::large_values`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LargeValues {
    /// As the build of the runtime does it: refused on the older, kept on the newer.
    #[default]
    ByBuild,
    /// It is refused.
    Refused,
    /// It is kept.
    Kept,
}

/// See [`Switches::foreign_write`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignWrite {
    /// As the build of the runtime does it: it hangs on the older and throws on the newer.
    #[default]
    ByBuild,
    /// It never settles.
    Hangs,
    /// It throws.
    Throws,
}

/// See [`Switches::get_alarm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GetAlarm {
    /// As the build of the runtime does it: three trips on the older, two on the newer.
    #[default]
    ByBuild,
    /// Three trips.
    ThreeTrips,
    /// Two trips.
    TwoTrips,
}

/// See [`Switches::runtime`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// In production.
    #[default]
    Production,
    /// On a developer's machine.
    Local,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Switches {
    /// The same with a value of its own in each place that was left to the build.
    pub fn resolved(mut self, build: RuntimeBuild) -> Switches {
        use SectionTimers as S;
        use {
            AfterReset as A, ColdAlarmName as C, ForeignWrite as F, GetAlarm as G, LargeValues as L, ResetAlarm as R,
        };
        let is_older = build == RuntimeBuild::May2026;
        settle(&mut self.cold_alarm_name, C::ByBuild, is_older, C::Absent, C::Present);
        settle(&mut self.after_reset, A::ByBuild, is_older, A::Zombie, A::CutOff);
        settle(&mut self.section_timers, S::ByBuild, is_older, S::Jammed, S::Free);
        settle(&mut self.reset_alarm, R::ByBuild, is_older, R::Counted, R::Spared);
        settle(&mut self.large_values, L::ByBuild, is_older, L::Refused, L::Kept);
        settle(&mut self.foreign_write, F::ByBuild, is_older, F::Hangs, F::Throws);
        settle(&mut self.get_alarm, G::ByBuild, is_older, G::ThreeTrips, G::TwoTrips);
        self
    }

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

/// Gives a switch that is left open what the older or the newer build does.
fn settle<T: PartialEq>(switch: &mut T, open: T, is_older: bool, older: T, newer: T) {
    if *switch == open {
        *switch = if is_older { older } else { newer };
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
            let expected = if turned.is_default() {
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

    #[test]
    fn a_build_settles_everything_that_is_left_to_it_and_nothing_else() {
        for build in [RuntimeBuild::May2026, RuntimeBuild::November2026] {
            let open = Switches { after_reset: AfterReset::ByBuild, ..Switches::default() };
            let settled = open.resolved(build);
            for turned in TURNED.iter().filter(|turned| turned.is_so(&settled)) {
                assert!(!turned.is_by_build(), "{build:?} leaves {} open", turned.switch);
            }
            assert_eq!(settled.resolved(RuntimeBuild::May2026), settled);
            let is_older = build == RuntimeBuild::May2026;
            assert_eq!(settled.after_reset == AfterReset::Zombie, is_older);
            assert_eq!(settled.cold_alarm_name == ColdAlarmName::Present, !is_older);
        }
    }
}
