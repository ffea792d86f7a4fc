// Runs the chosen probes of one suite on its installation.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { binaryOf, esbuildOf } from "../suites.mjs";
import { EXIT, Failure } from "./failure.mjs";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from "./workerd.mjs";

/** Runs where neither the command line nor the data says how many. */
const RUNS = 3;

/** The ids of a suite that the command line means; undefined where all of a new suite are meant. */
export function chooseIds(suite, recorded, only) {
  const standing = recorded.results.length ? recorded.results.map((result) => result.id) : suite.probes;
  return only ? (standing ?? only).filter((id) => only.includes(id)) : standing;
}

/**
 * Runs the probes `ids` of `suite`, each `runs` times or as often as is recorded, and gives each result to `done` as it comes.
 * Resolves to what the data says about the suite as a whole.
 */
export async function runSuite(suite, { packages, recorded, ids, runs }, done) {
  const binary = binaryOf(packages);
  const runtime = version(binary);
  if (runtime !== suite.runtime) {
    throw new Failure(
      EXIT.usage,
      `the suite ${suite.name} is for ${suite.runtime}, but its packages install ${runtime}`,
    );
  }
  const times = (id) => runs ?? recorded.results.find((result) => result.id === id)?.runs ?? RUNS;
  const choose = (all) => {
    const unknown = (ids ?? []).find((id) => !all.some((probe) => probe.id === id));
    if (unknown) throw new Failure(EXIT.usage, `the scripts of the suite ${suite.name} have no probe "${unknown}"`);
    const order = ids ?? all.map((probe) => probe.id);
    return order.map((id) => ({ ...all.find((probe) => probe.id === id), times: times(id) }));
  };
  const { flags, withoutMcp } = suite;
  await suite.run({ binary, packages, esbuild: esbuildOf(packages), flags, withoutMcp }, choose, done);
  return {
    runtime,
    ...(suite.versions ? { packages: versions(packages, suite.versions) } : {}),
    compatibilityDate: COMPATIBILITY_DATE,
    ...(flags ? { compatibilityFlags: [...COMPATIBILITY_FLAGS, ...flags] } : {}),
  };
}

function version(binary) {
  try {
    return execFileSync(binary, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  } catch (error) {
    const why = String(error.stderr || error.code)
      .trim()
      .split("\n")[0];
    throw new Failure(EXIT.unable, `the real runtime does not start on this machine: ${why}`);
  }
}

function versions(packages, names) {
  const read = (name) => JSON.parse(readFileSync(join(packages, "node_modules", name, "package.json"), "utf8")).version;
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}
