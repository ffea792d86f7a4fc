//! What decisions are about: the questions that a run asks, gathered so that each group means one thing to a person.

/// Questions that mean one thing to a person.
pub struct Question {
    /// What they decide, in a sentence `… other draws of … were tried`.
    pub noun: &'static str,
    /// The questions, or their first segments followed by a dot.
    whats: &'static [&'static str],
    /// Numbers of the facts which say that the platform decides so; none where it is the host, a client or the simulator.
    pub facts: &'static [&'static str],
    /// What proves that it may decide on a value: the facts for each value up to the first number, as switches name them.
    proofs: &'static [(u64, &'static [&'static str])],
}

impl Question {
    const fn new(
        noun: &'static str,
        whats: &'static [&'static str],
        facts: &'static [&'static str],
        proofs: &'static [(u64, &'static [&'static str])],
    ) -> Self {
        Self { noun, whats, facts, proofs }
    }

    /// What proves that the platform may decide on `value`.
    pub fn proof_of(&self, value: u64) -> &'static [&'static str] {
        self.proofs.iter().find(|(most, _)| value <= *most).map_or(&[], |(_, facts)| facts)
    }

    /// Whether a question is among these.
    pub fn has(&self, what: &str) -> bool {
        self.whats.iter().any(|known| if known.ends_with('.') { what.starts_with(known) } else { what == *known })
    }

    /// Whether a decision answers one of these, by its name `<who>/<what>@<step>#<n>`.
    pub fn is_of(&self, decision: &str) -> bool {
        self.has(what_of(decision))
    }
}

/// Whatever the value.
const ANY: u64 = u64::MAX;

/// All questions. Every one that a run asks belongs to one group.
pub const QUESTIONS: &[Question] = &[
    Question::new("latency", &["latency.", "net."], &["29", "208"], &[(ANY, &["29", "39"])]),
    Question::new("commit time", &["commit"], &["218"], &[(ANY, &["41", "42", "43"])]),
    Question::new(
        "lateness of alarms",
        &["alarm.late"],
        &["68", "210"],
        &[(14, &["68 [R:A24]"]), (999, &["68 [R:A23]"]), (ANY, &["68 [D:storage-api alarms]"])],
    ),
    Question::new("order of what meets in one millisecond", &["order."], &["208"], &[(ANY, &["38", "39"])]),
    Question::new("rounding of due times", &["round-up"], &["69", "208"], &[(ANY, &["69"])]),
    Question::new("placement", &["placement"], &["130", "222"], &[(ANY, &["131 [D:in-memory-state]"])]),
    Question::new("jitter of retried alarms", &["alarm.retry-jitter"], &["76", "212"], &[(ANY, &["76"])]),
    Question::new("repeated delivery of alarms", &["alarm.again"], &["70", "211"], &[(ANY, &["70 [D:alarms]"])]),
    Question::new("lost counts of retried alarms", &["alarm.count-lost"], &["79", "212"], &[(ANY, &["79"])]),
    Question::new(
        "alarms that are stuck",
        &["alarm.stuck"],
        &["87", "213"],
        &[(0, &["87 [R:A26]"]), (ANY, &["87 [I:cloudflare/workerd#6866]"])],
    ),
    Question::new(
        "names that alarms bring",
        &["alarm.nameless"],
        &["7", "214"],
        &[(ANY, &["11 [I:cloudflare/partykit#390, I:cloudflare/partykit#378]"])],
    ),
    Question::new(
        "evictions of idle objects",
        &["eviction"],
        &["15", "215"],
        &[(11_500, &["15 [R:EV1]"]), (ANY, &["13"])],
    ),
    Question::new(
        "evictions that cut off work",
        &["eviction.pending-work"],
        &["16", "215"],
        &[(ANY, &["16 [D:changelog 2026-10-01, I:cloudflare/cloudflare-docs#33454]"])],
    ),
    Question::new("code updates that wait", &["update.deferred"], &["24", "216"], &[(ANY, &["24"])]),
    Question::new("resets of objects", &["reset", "reset.kind"], &["21", "216"], &[(ANY, &["21"])]),
    Question::new("code that outlives its reset", &["reset.zombie"], &["22", "217", "219"], &[(ANY, &["109"])]),
    Question::new("flags of errors over hops", &["flags.kept"], &["96", "220"], &[(ANY, &["99 [RF:E8]"])]),
    Question::new(
        "ends of streams whose object is lost",
        &["stream.end"],
        &["145", "224"],
        &[(1, &["145 [R11:SSE3] by analogy"]), (ANY, &["145 [R26:SSE3] by analogy"])],
    ),
    Question::new(
        "noticing that a client left",
        &["leaving"],
        &["146", "225"],
        &[(1, &["146 [R11:SSE2]"]), (ANY, &["146 [R26:SSE2]", "199 [RA:MC3]"])],
    ),
    Question::new(
        "lateness of what a keep-alive leaves",
        &["tail"],
        &["176", "226"],
        &[(ANY, &["175 [S:agents index.js]"])],
    ),
    Question::new("id", &["session-id", "execution-id", "correlation-id", "schedule.id"], &[], &[]),
    Question::new("jitter of host and clients", &["routing.jitter", "client.jitter", "schedule.jitter"], &[], &[]),
];

/// The question that a decision answers.
fn what_of(decision: &str) -> &str {
    let what = decision.split_once('/').map_or(decision, |(_, rest)| rest);
    what.split_once('@').map_or(what, |(what, _)| what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::platform::fact_list::DECISIONS;
    use scenarios::plan::Severity;
    use scenarios::seed::Seed;

    #[test]
    fn what_is_known_to_vary_is_assumed_of_the_platform() {
        for decision in DECISIONS {
            let of = |question: &&Question| question.has(&decision.name.replace('*', "any"));
            let question = QUESTIONS.iter().find(of).unwrap_or_else(|| panic!("{}: name its group", decision.name));
            assert!(question.facts.contains(&decision.fact), "{}: fact {}", decision.name, decision.fact);
        }
    }

    #[test]
    fn every_question_of_a_run_belongs_to_one_group() {
        for id in ["swarm/everything", "approval/resumed-elsewhere", "stream/two-listeners", "clients/listener-ended"] {
            let mut plan = (crate::draw::scenario(id).expect("it is in the catalog").plan)(Seed(5));
            plan.world.severity = Severity::Hostile;
            let result = crate::run::run_plan(&plan, &crate::run::RunOptions::default()).expect("it runs");
            for drawn in &result.trace.decisions {
                let count = QUESTIONS.iter().filter(|question| question.has(&drawn.name.what)).count();
                assert_eq!(count, 1, "{}: it belongs to one group", drawn.name.what);
            }
        }
    }
}
