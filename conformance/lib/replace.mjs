// Puts new results in the place of old ones. The order stays, and so do notes, which are written by hand.

/**
 * Replaces in `suite`, a suite of the data, the results in `results` (by id). When all of them are new the suite bears `day` as
 * its day of recording, otherwise each new result does.
 */
export function replace(suite, facts, results, day) {
  const { suite: title, recorded: before, results: standing } = suite;
  const whole = standing.every((old) => results.has(old.id));
  const own = whole ? undefined : day;
  const places = standing.map((old) => (results.has(old.id) ? place(results.get(old.id), own, old.note) : old));
  const isStanding = (id) => standing.some((old) => old.id === id);
  const added = [...results.values()].filter(({ id }) => !isStanding(id)).map((result) => place(result, own));
  for (const key of Object.keys(suite)) delete suite[key];
  const recorded = whole ? day : before;
  Object.assign(suite, facts, { suite: title }, recorded && { recorded }, { results: [...places, ...added] });
}

function place({ id, description, steps, runs, deterministic, observed, timings }, recorded, note) {
  return {
    id,
    description,
    steps,
    ...(recorded && { recorded }),
    runs,
    deterministic,
    observed,
    ...(timings && { timings }),
    ...(note && { note }),
  };
}
