// The recorder: runs the probes in the real runtime and rewrites the data, or compares with it. README.md says how.

import "./lib/node-version.mjs";

import { join } from "node:path";
import { differences, shorten, verdict } from "./lib/answers.mjs";
import { faults, readData, writeData } from "./lib/data.mjs";
import { EXIT, Failure } from "./lib/failure.mjs";
import { askNpm, install, requirePlatform } from "./lib/install.mjs";
import { chooseSuites, readOptions, USAGE } from "./lib/options.mjs";
import { replace } from "./lib/replace.mjs";
import { chooseIds, runSuite } from "./lib/suite.mjs";
import { endAll } from "./lib/workerd.mjs";
import { SAMPLE, SUITES } from "./suites.mjs";

const DATA = join(import.meta.dirname, "../sim/data/workerd-probes.json");
const SHOWN_DIFFERENCES = 5;
const say = (line) => console.log(line);

process.on("exit", endAll);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(EXIT.interrupted));

/** The suite as it stands in the data; one that is new there is added, empty. */
function standing(data, suite) {
  const found = data.suites.find((one) => one.suite === suite.title);
  if (found) return found;
  const added = { suite: suite.title, results: [] };
  data.suites.push(added);
  return added;
}

/** Which probes of which suites the command line means. */
function plan(options, data) {
  const sampled = options.mode === "check" && !options.suites && !options.only;
  const only = sampled ? SAMPLE.ids : options.only;
  const suites = chooseSuites(SUITES, sampled ? [SAMPLE.suite] : options.suites);
  const parts = suites.map((suite) => ({ suite, ids: chooseIds(suite, standing(data, suite), only) }));
  const unknown = only?.find((id) => !parts.some((part) => part.ids.includes(id)));
  if (unknown)
    throw new Failure(EXIT.usage, `no probe "${unknown}" in ${suites.map((suite) => suite.name).join(", ")}`);
  return parts.filter(({ ids }) => ids === undefined || ids.length);
}

/** Runs one part of a plan; gives each result to `each` in the form of the data, with the one that stands there. */
async function runPart({ suite, ids }, runs, data, each) {
  const packages = install(suite.packages, say);
  const recorded = standing(data, suite);
  return runSuite(suite, { packages, recorded, ids, runs }, (result) => {
    const before = recorded.results.find((one) => one.id === result.id);
    if (result.failed) each(result, before, `no answer: ${result.failed}`);
    else {
      result.observed = shorten(result.observed, data.texts);
      each(result, before, before ? verdict(before, result) : "new");
    }
  });
}

async function record(options, data) {
  let unanswered = 0;
  for (const part of plan(options, data)) {
    const { name } = part.suite;
    const results = new Map();
    const facts = await runPart(part, options.runs, data, (result, before, came) => {
      say(`${name}  ${result.id}  ${came}${result.deterministic === false ? ", varies" : ""}`);
      if (result.failed) unanswered++;
      else results.set(result.id, result);
    });
    if (results.size === 0) continue;
    replace(standing(data, part.suite), facts, results, new Date().toISOString().slice(0, 10));
    writeData(options.out, data);
    say(`${name}: ${results.size} results written to ${options.out}`);
  }
  if (unanswered) throw new Failure(EXIT.differs, `${unanswered} probes gave no answer and stand as they were`);
}

async function check(options, data) {
  const counts = { same: 0, other: 0 };
  for (const part of plan(options, data)) {
    const { name } = part.suite;
    let again = [];
    const compare = (last) => (result, before, came) => {
      const is = came === "same" ? "same" : last || came === "new" ? "other" : "again";
      say(`${name}  ${result.id}  ${came}${is === "again" ? ", once more" : ""}`);
      if (is === "again") again.push(result.id);
      else counts[is]++;
      const lines = is === "other" && before && !result.failed ? differences(before, result) : [];
      for (const line of lines.slice(0, SHOWN_DIFFERENCES)) say(`    ${line}`);
      if (lines.length > SHOWN_DIFFERENCES) say(`    and ${lines.length - SHOWN_DIFFERENCES} more`);
    };
    await runPart(part, options.runs ?? 1, data, compare(false));
    if (again.length) await runPart({ ...part, ids: again }, options.runs ?? 1, data, compare(true));
  }
  if (counts.other) {
    throw new Failure(EXIT.differs, `${counts.other} probes did not answer as recorded, ${counts.same} did`);
  }
  say(`${counts.same} probes answered as recorded`);
}

function list(data) {
  for (const suite of SUITES) {
    const { results, recorded } = standing(data, suite);
    const day = suite.kept ? `kept: ${suite.kept}` : `recorded ${recorded ?? "before days were written"}`;
    say(`${suite.name.padEnd(40)} ${String(results.length).padStart(4)} probes, ${day}`);
  }
}

async function main() {
  const options = readOptions(process.argv.slice(2), { data: DATA });
  if (options.mode === "help") return say(USAGE);
  const read = readData(options.data);
  const found = faults(read);
  if (found.length) throw new Failure(EXIT.differs, [`${options.data} is not well formed`, ...found].join("\n    "));
  if (options.mode === "list") return list(read.data);
  if (options.mode === "validate") {
    const results = read.data.suites.reduce((sum, suite) => sum + suite.results.length, 0);
    return say(`well formed: ${read.data.suites.length} suites, ${results} results`);
  }
  requirePlatform();
  const parts = plan(options, read.data);
  if (options.npmTimeout) askNpm(parts[0].suite.packages, options.npmTimeout * 1000);
  await (options.mode === "check" ? check : record)(options, read.data);
}

main().then(
  () => process.exit(EXIT.ok),
  (error) => {
    if (!(error instanceof Failure)) throw error;
    console.error(`error: ${error.message}`);
    process.exit(error.exit);
  },
);
