//! The habits of a platform, from the build and the switches of a plan.

use model::platform::{BuildHabits, RuntimeBuild, Switches};
use scenarios::plan::{self, AfterReset, CodeUpdate, ColdAlarmName, DeleteAll, Eviction, ForeignWrite, GetAlarm};
use scenarios::plan::{LargeValues, ResetAlarm, Runtime, SectionTimers, SocketsAfterReset};

/// The platform model's build and habits; what the switches leave open is as the build does it.
pub fn of(build: plan::RuntimeBuild, switches: plan::Switches) -> (RuntimeBuild, Switches) {
    let chosen = switches.resolved(build);
    let habits = BuildHabits {
        cold_alarm_has_name: chosen.cold_alarm_name == ColdAlarmName::Present,
        jams_timers: chosen.section_timers == SectionTimers::Jammed,
        spares_alarms: chosen.reset_alarm == ResetAlarm::Spared,
        limits_values: chosen.large_values == LargeValues::Refused,
        hangs_on_foreign_write: chosen.foreign_write == ForeignWrite::Hangs,
        get_alarm_is_short: chosen.get_alarm == GetAlarm::TwoTrips,
    };
    let model = Switches {
        habits: Some(habits),
        leaves_zombies: chosen.after_reset == AfterReset::Zombie,
        wipes_alarm: chosen.delete_all == DeleteAll::DeletesAlarm,
        evicts_pending_work: chosen.eviction == Eviction::PendingWorkToo,
        defers_updates: chosen.code_update == CodeUpdate::Deferred,
        drops_sockets_silently: chosen.sockets_after_reset == SocketsAfterReset::Silent,
        is_local: chosen.runtime == Runtime::Local,
        keeps_errors: false,
    };
    (of_model(build), model)
}

fn of_model(build: plan::RuntimeBuild) -> RuntimeBuild {
    match build {
        plan::RuntimeBuild::May2026 => RuntimeBuild::May2026,
        plan::RuntimeBuild::November2026 => RuntimeBuild::November2026,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_to_the_build_is_as_the_model_knows_its_builds() {
        for build in [plan::RuntimeBuild::May2026, plan::RuntimeBuild::November2026] {
            let open = plan::Switches { after_reset: AfterReset::ByBuild, ..plan::Switches::default() };
            let (of_model, switches) = of(build, open);
            assert_eq!(switches.habits, Some(of_model.habits()));
            assert_eq!(switches.leaves_zombies, of_model.leaves_zombies());
            assert!(!of(build, plan::Switches::default()).1.leaves_zombies, "production does either: worlds draw it");
        }
    }
}
