// Running a probe several times, and what its runs came to together.

/** Runs `probe` `times` times, one after the other; a run that the driver could not finish is kept as `driver`. */
export async function repeat(times, probe) {
  const outcomes = [];
  for (let run = 0; run < times; run++) {
    try {
      outcomes.push({ answer: await probe() });
    } catch (error) {
      outcomes.push({ driver: String(error?.cause ?? error?.stack ?? error) });
    }
  }
  return outcomes;
}

/** Works through `items`, `width` at a time. */
export async function inParallel(width, items, work) {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** What a probe reports, without what varies from run to run by its nature. */
function stable(answer) {
  if (answer?.ok?.stable !== undefined) return answer.ok.stable;
  return answer && "ok" in answer ? answer.ok : answer;
}

/** A result as the driver saw it; `failed` stands where a run gave no answer at all. */
export function summarise({ id, description, steps }, outcomes) {
  const failed = outcomes.find((outcome) => "driver" in outcome)?.driver;
  if (failed !== undefined) return { id, failed };
  const answers = outcomes.map((outcome) => outcome.answer);
  const texts = answers.map((answer) => JSON.stringify(stable(answer)));
  const distinct = [...new Set(texts)];
  const observed =
    distinct.length === 1
      ? JSON.parse(distinct[0])
      : distinct.map((text) => ({ times: texts.filter((other) => other === text).length, result: JSON.parse(text) }));
  const timings = answers.map((answer) => answer?.ok?.timing).filter(Boolean);
  return {
    id,
    description,
    steps,
    runs: answers.length,
    deterministic: distinct.length === 1,
    observed,
    ...(timings.length ? { timings } : {}),
  };
}
