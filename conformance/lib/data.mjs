// The data file: read, checked for its form, laid out as it stands, written in one step.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { EXIT, Failure } from "./failure.mjs";

/** An array of plain values stays on one line up to this length. */
const INLINE = 160;

export function readData(path) {
  let text;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Failure(EXIT.usage, `the data ${path} cannot be read (${error.code})`);
  }
  try {
    return { text, data: JSON.parse(text) };
  } catch (error) {
    throw new Failure(EXIT.differs, `the data ${path} is no JSON: ${error.message}`);
  }
}

/** One space of indentation, short arrays on one line: a change of one answer is a change of its lines only. */
export function layOut(data) {
  const text = JSON.stringify(data, null, 1).replace(/\[\n\s+([^[\]{}]*?)\n\s+\]/g, (whole, items) =>
    items.length > INLINE
      ? whole
      : `[${items
          .split("\n")
          .map((item) => item.trim())
          .join(" ")}]`,
  );
  return text + "\n";
}

/** Writes beside the file and renames: whoever reads it sees the old data or the new, whole. */
export function writeData(path, data) {
  const beside = path + ".tmp";
  try {
    const file = openSync(beside, "w");
    writeFileSync(file, layOut(data));
    fsyncSync(file);
    closeSync(file);
    renameSync(beside, path);
  } catch (error) {
    throw new Failure(EXIT.usage, `the data cannot be written to ${path} (${error.code})`);
  }
}

const isText = (value) => typeof value === "string" && value !== "";
const isCount = (value) => Number.isInteger(value) && value > 0;
const isDay = (value) => value === undefined || /^\d{4}-\d\d-\d\d$/.test(value);
const isPlain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** What is wrong with the form of the data, one sentence each. */
export function faults({ text, data }) {
  const found = [];
  const must = (holds, sentence) => holds || found.push(sentence);
  must(isText(data.about), "`about` says nothing");
  must(isPlain(data.texts) && Object.values(data.texts).every(isText), "`texts` is no table of texts");
  must(
    isPlain(data.conventions) && Object.values(data.conventions).every(isText),
    "`conventions` is no table of texts",
  );
  if (!Array.isArray(data.suites) || data.suites.length === 0) return [...found, "there are no suites"];
  const titles = data.suites.map((suite) => suite.suite);
  must(new Set(titles).size === titles.length, "two suites have the same name");
  for (const suite of data.suites) faultsOfSuite(suite, must);
  for (const name of Object.keys(data.texts ?? {})) {
    must(text.includes(`${name} `) || text.includes(`${name}"`), `no answer uses the text ${name}`);
  }
  must(layOut(data) === text, "it is not laid out as the recorder does it");
  return found;
}

function faultsOfSuite(suite, must) {
  const named = (sentence) => `suite "${suite.suite}": ${sentence}`;
  must(isText(suite.suite), "a suite has no name");
  must(/^workerd \d{4}-\d\d-\d\d$/.test(suite.runtime), named("`runtime` is no build of workerd"));
  must(isText(suite.compatibilityDate) && isDay(suite.compatibilityDate), named("`compatibilityDate` is no day"));
  must(isDay(suite.recorded), named("`recorded` is no day"));
  const { compatibilityFlags: flags, packages, results } = suite;
  must(flags === undefined || (Array.isArray(flags) && flags.every(isText)), named("`compatibilityFlags` is no list"));
  must(
    packages === undefined || (isPlain(packages) && Object.values(packages).every(isText)),
    named("`packages` is no table"),
  );
  if (!Array.isArray(results) || results.length === 0) return must(false, named("it has no results"));
  must(new Set(results.map((result) => result.id)).size === results.length, named("an id stands twice"));
  for (const result of results) faultsOfResult(result, (holds, what) => must(holds, named(`${result.id}: ${what}`)));
}

const KEYS = ["id", "description", "steps", "recorded", "runs", "deterministic", "observed", "timings", "note"];

function faultsOfResult(result, must) {
  for (const key of ["id", "description", "steps"]) must(isText(result[key]), `\`${key}\` says nothing`);
  for (const key of Object.keys(result)) must(KEYS.includes(key), `\`${key}\` is no known field`);
  must(isDay(result.recorded), "`recorded` is no day");
  must(isCount(result.runs), "`runs` is no count");
  must(typeof result.deterministic === "boolean", "`deterministic` is neither true nor false");
  must(result.observed !== undefined, "`observed` is missing");
  must(result.timings === undefined || result.timings.length === result.runs, "`timings` are not one for each run");
  if (result.deterministic !== false) return;
  const seen = result.observed;
  const several = Array.isArray(seen) && seen.length > 1 && seen.every((one) => isCount(one.times) && "result" in one);
  must(several, "it varies, but `observed` does not list what was seen");
  if (several)
    must(seen.reduce((sum, one) => sum + one.times, 0) === result.runs, "the counts do not add up to the runs");
}
