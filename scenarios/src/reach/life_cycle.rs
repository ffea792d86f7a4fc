//! States and transitions of a session's life.

use super::Fact::{
    AskedToEnd, Building, Condemned, Destroying, Disposing, PlansEnds, PlansFaults, Resident, SomeCondemned,
    SomeDisposed, SomeFault, StartBegins, Starting,
};
use super::Phase::{self, Absent, Cold, Condemned as Marked, Destroying as Destroyed, Disposing as Disposed, Wiped};
use super::{Evidence, Fact, Sometimes};

const SOURCE: &str = "§2.29";

const fn state(name: &'static str, claim: &'static str, phase: Phase, via: &'static [Fact]) -> Sometimes {
    Sometimes { name, source: SOURCE, claim, via, when: &[], shown_by: Evidence::State(phase) }
}

const fn change(
    name: &'static str,
    claim: &'static str,
    (from, to, by): (Phase, Phase, &'static str),
    via: &'static [Fact],
) -> Sometimes {
    Sometimes { name, source: SOURCE, claim, via, when: &[], shown_by: Evidence::Change(from, to, by) }
}

/// One line a row.
#[rustfmt::skip]
pub const ROWS: &[Sometimes] = &[
    state("life-cycle/absent", "a session does not exist yet", Absent, &[]),
    state("life-cycle/starting", "a start runs", Phase::Starting, &[]),
    state("life-cycle/resident", "a runtime is installed", Phase::Resident, &[Starting]),
    state("life-cycle/disposing", "a disposal runs", Disposed, &[Resident]),
    state("life-cycle/cold", "a session lives on in storage alone", Cold, &[Resident, Disposing]),
    state("life-cycle/condemned", "a session is marked for destruction", Marked, &[PlansEnds, AskedToEnd]),
    state("life-cycle/destroying", "a session is being destroyed", Destroyed, &[PlansEnds, Condemned]),
    state("life-cycle/wiped", "the storage of a session is wiped", Wiped, &[PlansEnds, Condemned, Destroying]),
    change("life-cycle/absent-to-starting", "a session is started for the first time", (Absent, Phase::Starting, ""), &[]),
    change("life-cycle/starting-to-resident", "a start comes to its runtime", (Phase::Starting, Phase::Resident, ""), &[Starting]),
    change("life-cycle/starting-to-cold", "a start fails", (Phase::Starting, Cold, "start.end"), &[PlansFaults, Starting, SomeFault]),
    change("life-cycle/starting-to-cold-by-reset", "an object is reset while it starts", (Phase::Starting, Cold, "object.reset"), &[PlansFaults, Building, SomeFault]),
    change("life-cycle/resident-to-starting", "a resident session is started anew", (Phase::Resident, Phase::Starting, "start.begin"), &[Resident, StartBegins]),
    change("life-cycle/resident-to-disposing", "a resident session is disposed", (Phase::Resident, Disposed, "disposal.begin"), &[Resident]),
    change("life-cycle/resident-to-cold-by-reset", "a resident object is reset", (Phase::Resident, Cold, "object.reset"), &[PlansFaults, Resident]),
    change("life-cycle/resident-to-cold-by-eviction", "the platform evicts a resident object", (Phase::Resident, Cold, "object.gone"), &[Resident]),
    change("life-cycle/resident-to-cold-by-isolate", "the isolate of a resident session ends", (Phase::Resident, Cold, "isolate.ended"), &[Resident]),
    change("life-cycle/disposing-to-cold", "a disposal comes to its end", (Disposed, Cold, "disposal.end"), &[Resident, Disposing]),
    change("life-cycle/disposing-to-cold-by-reset", "an object is reset while it is disposed", (Disposed, Cold, "object.reset"), &[PlansFaults, Resident, Disposing]),
    change("life-cycle/disposing-to-starting", "a start that came during a disposal goes on after it", (Disposed, Phase::Starting, "disposal.end"), &[Disposing, Starting]),
    change("life-cycle/cold-to-starting", "a session that is in storage alone is started again", (Cold, Phase::Starting, "start.begin"), &[Resident, SomeDisposed]),
    change("life-cycle/starting-to-condemned", "a session is condemned while it starts", (Phase::Starting, Marked, ""), &[PlansEnds, AskedToEnd, Starting]),
    change("life-cycle/resident-to-condemned", "a resident session is condemned", (Phase::Resident, Marked, ""), &[PlansEnds, Resident, AskedToEnd]),
    change("life-cycle/disposing-to-condemned", "a session is condemned while it is disposed", (Disposed, Marked, ""), &[PlansEnds, Disposing, AskedToEnd]),
    change("life-cycle/cold-to-condemned", "a session without a runtime is condemned", (Cold, Marked, ""), &[SomeDisposed, SomeCondemned]),
    change("life-cycle/condemned-to-destroying", "the alarm of a condemned session destroys it", (Marked, Destroyed, "destroy.begin"), &[PlansEnds, Condemned]),
    change("life-cycle/destroying-to-condemned", "a destruction is lost with its object and the mark stays", (Destroyed, Marked, ""), &[PlansEnds, Condemned, Destroying]),
    change("life-cycle/destroying-to-wiped", "a destruction comes to its end", (Destroyed, Wiped, "destroy.end"), &[PlansEnds, Condemned, Destroying]),
];
