//! What decisions are about: the questions that a run asks, gathered so that each group means one thing to a person.

/// Questions that mean one thing to a person.
pub struct Question {
    /// What they decide, in a sentence `… other draws of … were tried`.
    pub noun: &'static str,
    /// The questions, or their first segments followed by a dot.
    whats: &'static [&'static str],
    /// Numbers of the facts which say that the platform decides so; none where it is the host, a client or the simulator.
    pub facts: &'static [&'static str],
}

impl Question {
    const fn new(noun: &'static str, whats: &'static [&'static str], facts: &'static [&'static str]) -> Self {
        Self { noun, whats, facts }
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

/// All questions. Every one that a run asks belongs to one group.
pub const QUESTIONS: &[Question] = &[
    Question::new("latency", &["latency.", "net."], &["29", "208"]),
    Question::new("commit time", &["commit"], &["218"]),
    Question::new("lateness of alarms", &["alarm.late"], &["68", "210"]),
    Question::new("order of what meets in one millisecond", &["order."], &["208"]),
    Question::new("rounding of due times", &["round-up"], &["69", "208"]),
    Question::new("placement", &["placement"], &["130", "222"]),
    Question::new("jitter of retried alarms", &["alarm.retry-jitter"], &["76", "212"]),
    Question::new("repeated delivery of alarms", &["alarm.again"], &["70", "211"]),
    Question::new("lost counts of retried alarms", &["alarm.count-lost"], &["79", "212"]),
    Question::new("alarms that are stuck", &["alarm.stuck"], &["87", "213"]),
    Question::new("names that alarms bring", &["alarm.nameless"], &["7", "214"]),
    Question::new("evictions of idle objects", &["eviction"], &["15", "215"]),
    Question::new("resets of objects", &["reset", "reset.kind"], &["21", "216"]),
    Question::new("code that outlives its reset", &["reset.zombie"], &["22", "217", "219"]),
    Question::new("flags of errors over hops", &["flags.kept"], &["96", "220"]),
    Question::new("ends of streams whose object is lost", &["stream.end"], &["145", "224"]),
    Question::new("noticing that a client left", &["leaving"], &["146", "225"]),
    Question::new("lateness of what a keep-alive leaves", &["tail"], &["176", "226"]),
    Question::new("id", &["session-id", "execution-id", "correlation-id", "schedule.id"], &[]),
    Question::new("jitter of host and clients", &["routing.jitter", "client.jitter", "schedule.jitter"], &[]),
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
