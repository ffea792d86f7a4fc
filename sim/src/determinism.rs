//! Whether runs repeat: the same seeds in two processes, in opposite orders, and the first event in which two runs differ.

use crate::error::Error;
use crate::supervisor::{Job, Worker, WorkerSpec};
use crate::trial::Answer;
use scenarios::trace::{Event, Trace};
use std::fmt::Write;
use std::path::Path;

/// At most this many differing runs are run again and explained; the first says as much as the hundredth.
const EXPLAINED_MAX: usize = 3;

/// One run in both workers.
#[derive(Clone, Debug)]
pub struct Pair {
    /// What was asked.
    pub job: Job,
    /// What the first worker answered, or how it was lost.
    pub one: Result<Answer, String>,
    /// What the second worker answered, or how it was lost.
    pub other: Result<Answer, String>,
}

impl Pair {
    /// Whether both answered, and not the same.
    pub fn differs(&self) -> bool {
        matches!((&self.one, &self.other), (Ok(one), Ok(other)) if one != other)
    }

    /// How a worker was lost over this run, if one was.
    pub fn loss(&self) -> Option<&str> {
        self.one.as_ref().err().or(self.other.as_ref().err()).map(String::as_str)
    }
}

/// Where two traces of the same plan part.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Place in the order of events, from 0.
    pub ordinal: usize,
    /// The first field or part that is not the same, with both values.
    pub part: String,
    /// The event of the first worker; absent when its trace ended before.
    pub one: Option<Event>,
    /// The event of the second worker; absent when its trace ended before.
    pub other: Option<Event>,
}

/// A run that did not repeat, and what is known about it.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Index of the pair.
    pub pair: usize,
    /// The first difference of the kept traces; absent when the runs with kept traces were the same.
    pub difference: Option<Difference>,
}

/// Runs every job in both workers at the same time, the second in the opposite order.
///
/// # Errors
/// A harness error when no worker can be started.
pub fn compare(jobs: &[Job], specs: &[WorkerSpec; 2]) -> Result<Vec<Pair>, Error> {
    let forward: Vec<usize> = (0..jobs.len()).collect();
    let backward: Vec<usize> = forward.iter().rev().copied().collect();
    let [first, second] = specs;
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| answers(jobs, &backward, second));
        let one = answers(jobs, &forward, first);
        (one, other.join().unwrap_or_else(|_| Err(Error::harness("the thread of the second worker panicked"))))
    });
    let pairs = jobs.iter().cloned().zip(one?).zip(other?);
    Ok(pairs.map(|((job, one), other)| Pair { job, one, other }).collect())
}

/// Asks one worker for all jobs in the given order; the answers are in the order of the jobs.
///
/// # Errors
/// A harness error when no worker can be started.
pub fn answers(jobs: &[Job], order: &[usize], spec: &WorkerSpec) -> Result<Vec<Result<Answer, String>>, Error> {
    let mut worker = Worker::new(spec.clone());
    let mut answers: Vec<Result<Answer, String>> = vec![Err("was not asked for".to_owned()); jobs.len()];
    for &at in order {
        answers[at] = worker.ask(&jobs[at])?.map_err(|lost| lost.how);
    }
    Ok(answers)
}

/// Runs all jobs once more, in the same orders, keeping the traces of the first that differ, and says where they part.
///
/// All of them, because what a run leaks into the next one shows only when the runs before it are the same again.
///
/// # Errors
/// A harness error when workers or files fail.
pub fn explain(pairs: &[Pair], specs: &[WorkerSpec; 2], scratch: &Path) -> Result<Vec<Explained>, Error> {
    let differing: Vec<usize> = (0..pairs.len()).filter(|at| pairs[*at].differs()).take(EXPLAINED_MAX).collect();
    if differing.is_empty() {
        return Ok(Vec::new());
    }
    let trace_of = |at: usize, side: &str| scratch.join(format!("{at}-{side}.jsonl"));
    let jobs_of = |side: &str| -> Vec<Job> {
        let with_trace = |at: usize| differing.contains(&at).then(|| trace_of(at, side));
        pairs.iter().enumerate().map(|(at, pair)| Job { trace: with_trace(at), ..pair.job.clone() }).collect()
    };
    let (forward, backward) = (jobs_of("one"), jobs_of("other"));
    let order: Vec<usize> = (0..pairs.len()).collect();
    let reverse: Vec<usize> = order.iter().rev().copied().collect();
    answers(&forward, &order, &specs[0])?;
    answers(&backward, &reverse, &specs[1])?;
    let explained = differing.iter().map(|&pair| {
        let one = read_trace(&trace_of(pair, "one"))?;
        let other = read_trace(&trace_of(pair, "other"))?;
        Ok(Explained { pair, difference: first_difference(&one, &other) })
    });
    explained.collect()
}

/// Reads the trace that a worker wrote.
///
/// # Errors
/// A harness error when it cannot be read.
pub fn read_trace(path: &Path) -> Result<Trace, Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::harness(format!("the trace of a worker cannot be read: {}", crate::files::reason(&error)))
    })?;
    let (_, trace) = scenarios::trace::read_lines(&bytes)
        .map_err(|refusal| Error::harness(format!("the trace of a worker cannot be read: {refusal}")))?;
    Ok(trace)
}

/// The first event in which two traces differ, if they do.
pub fn first_difference(one: &Trace, other: &Trace) -> Option<Difference> {
    let events = one.events.iter().zip(&other.events);
    let shorter = one.events.len().min(other.events.len());
    let at = events.into_iter().position(|(one, other)| one != other).unwrap_or(shorter);
    let (one, other) = (one.events.get(at).cloned(), other.events.get(at).cloned());
    if one.is_none() && other.is_none() {
        return None;
    }
    let part = match (&one, &other) {
        (Some(one), Some(other)) => differing_part(one, other),
        (None, _) => "the first run ended before this event".to_owned(),
        (_, None) => "the second run ended before this event".to_owned(),
    };
    Some(Difference { ordinal: at, part, one, other })
}

/// The first part of two events that is not the same: `field: this, that`.
fn differing_part(one: &Event, other: &Event) -> String {
    let parts = |event: &Event| {
        let mut parts = vec![
            ("stream".to_owned(), event.stream.name().to_owned()),
            ("event".to_owned(), event.name.to_string()),
            ("who".to_owned(), event.who().unwrap_or("nobody").to_owned()),
            ("time".to_owned(), format!("{} ms", event.at_ms)),
        ];
        parts.extend(event.fields.iter().map(|(name, value)| (name.to_string(), crate::report::value_text(value))));
        parts
    };
    let (one, other) = (parts(one), parts(other));
    let at = one.iter().zip(&other).position(|(one, other)| one != other).unwrap_or(one.len().min(other.len()));
    match (one.get(at), other.get(at)) {
        (Some((name, one)), Some((same, other))) if name == same => format!("{name}: {one}, {other}"),
        (one, other) => {
            let told = |part: Option<&(String, String)>| {
                part.map_or("nothing".to_owned(), |(name, value)| format!("{name} {value}"))
            };
            format!("field: {}, {}", told(one), told(other))
        }
    }
}

/// Two runs of one plan that were not the same, and where they part.
pub fn explanation(pair: &Pair, difference: Option<&Difference>) -> String {
    let mut out = format!("DIFFERS  {}  seed {}\n", pair.job.scenario, pair.job.seed);
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "  {name:<10} {value}");
    };
    if let (Ok(one), Ok(other)) = (&pair.one, &pair.other) {
        line("telemetry", format!("{}  {}", one.telemetry_digest, other.telemetry_digest));
        line("run", format!("{}  {}", one.run_digest, other.run_digest));
    }
    match difference {
        Some(difference) => {
            let event = |event: &Option<scenarios::trace::Event>| {
                event.as_ref().map_or("nothing".to_owned(), crate::report::event_text)
            };
            line("first", format!("event {}, {}", difference.ordinal + 1, difference.part));
            line("one", event(&difference.one));
            line("other", event(&difference.other));
        }
        None => line("first", "not found: with kept traces both runs were the same".to_owned()),
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::trace::{Stream, Value};

    fn trace(values: &[u64]) -> Trace {
        let events = values.iter().zip(0..).map(|(value, ordinal)| Event {
            at_ms: 10 * u64::from(ordinal),
            ordinal,
            stream: Stream::State,
            name: "gauge".into(),
            who: Some("i1".into()),
            fields: vec![("isolate".into(), "i1".into()), ("residents".into(), Value::Uint(*value))],
        });
        Trace { events: events.collect(), ..Trace::default() }
    }

    #[test]
    fn equal_traces_have_no_difference() {
        assert_eq!(first_difference(&trace(&[1, 2]), &trace(&[1, 2])), None);
        assert_eq!(first_difference(&trace(&[]), &trace(&[])), None);
    }

    #[test]
    fn the_first_differing_event_is_named_with_both_values() {
        let found = first_difference(&trace(&[1, 2, 3]), &trace(&[1, 5, 6])).expect("they differ");
        assert_eq!((found.ordinal, found.part.as_str()), (1, "residents: 2, 5"));
        assert!(found.one.is_some() && found.other.is_some());
    }

    #[test]
    fn a_trace_that_ends_early_differs_where_it_ends() {
        let found = first_difference(&trace(&[1]), &trace(&[1, 2])).expect("they differ");
        assert_eq!((found.ordinal, found.one), (1, None));
        assert_eq!(found.part, "the first run ended before this event");
    }
}
