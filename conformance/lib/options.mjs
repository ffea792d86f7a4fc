// The command line: what to run, how often, against which data, and whether to write.

import { parseArgs } from "node:util";
import { EXIT, Failure } from "./failure.mjs";

export const USAGE = `node record.mjs [options]     records every suite that can be recorded, and rewrites the data

  --check               write nothing: run, and compare with the data (a quick sample, unless probes or suites are chosen)
  --validate            run nothing: say whether the data is well formed
  --suite NAME          this suite only; may be given more than once; --list names them
  --only ID,ID,...      these probes only
  --runs N              runs of each probe; by default as many as are recorded, and one with --check
  --data FILE           the data to read; by default sim/data/workerd-probes.json
  --out FILE            where to write; by default the data itself
  --npm-timeout S       give up when npm does not answer within S seconds
  --list                the suites, and how many probes each has
  --help

Exit codes: 0 done, 1 an answer differs or the data is not well formed, 2 the command line asks for what does not exist,
3 this machine cannot run the real runtime (platform, npm, network).`;

const OPTIONS = {
  check: { type: "boolean" },
  validate: { type: "boolean" },
  list: { type: "boolean" },
  help: { type: "boolean" },
  suite: { type: "string", multiple: true },
  only: { type: "string" },
  runs: { type: "string" },
  data: { type: "string" },
  out: { type: "string" },
  "npm-timeout": { type: "string" },
};

const usage = (message) => new Failure(EXIT.usage, message);

export function readOptions(args, defaults) {
  let given;
  try {
    given = parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw usage(error.message);
  }
  if (given.check && given.out) throw usage("--check writes nothing, so --out has no meaning with it");
  const data = given.data ?? defaults.data;
  return {
    mode: ["help", "list", "validate", "check"].find((name) => given[name]) ?? "record",
    suites: given.suite,
    only: given.only?.split(",").filter(Boolean),
    runs: number(given.runs, "--runs"),
    npmTimeout: number(given["npm-timeout"], "--npm-timeout"),
    data,
    out: given.out ?? data,
  };
}

function number(text, name) {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw usage(`${name} needs a whole number from 1 to 99999, not "${text}"`);
  return Number(text);
}

/** The suites that are meant, in their order. */
export function chooseSuites(all, names) {
  for (const name of names ?? []) {
    const suite = all.find((one) => one.name === name);
    if (!suite) throw usage(`there is no suite "${name}"; there are ${all.map((one) => one.name).join(", ")}`);
    if (suite.kept) throw usage(`the suite ${name} stays as it is recorded: ${suite.kept}`);
  }
  return all.filter((suite) => !suite.kept && (!names || names.includes(suite.name)));
}
