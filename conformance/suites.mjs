// The suites of recordings: which installation each runs on, with which probes, and the sample that stands for them.

import { runAgents } from "./probes/agents/agents-driver.mjs";
import { runCore } from "./probes/core/driver.mjs";

const WORKERD = "@cloudflare/workerd-linux-64";

/**
 * `title` is the suite's name in the data; `packages` the folder of its pinned versions; `versions` the packages whose versions
 * the data names. `probes` limits a suite that is new in the data. A suite with `kept` is not recorded here, for that reason.
 */
export const SUITES = [
  {
    name: "core/2026-05-26",
    title: "core, workerd 2026-05-26 (the build that the target project pins through wrangler)",
    runtime: "workerd 2026-05-26",
    packages: "workerd-2026-05-26",
    run: runCore,
    flags: [],
  },
  {
    name: "core/2026-11-17",
    title: "core, workerd 2026-11-17 (newest published that day)",
    runtime: "workerd 2026-11-17",
    packages: "workerd-2026-11-17",
    run: runCore,
    flags: [],
  },
  {
    name: "core+flags/2026-05-26",
    title: "core with delete_all_deletes_alarm and enhanced_error_serialization, workerd 2026-05-26",
    runtime: "workerd 2026-05-26",
    packages: "workerd-2026-05-26",
    run: runCore,
    flags: ["delete_all_deletes_alarm", "enhanced_error_serialization"],
    probes: ["S4", "A20", "E1", "E2", "E8"],
  },
  {
    name: "agents-0.17.3/2026-05-26",
    title: "agents 0.17.3 / partyserver 0.5.8 as published, workerd 2026-05-26",
    runtime: "workerd 2026-05-26",
    packages: "agents-0.17.3",
    run: runAgents,
    versions: ["agents", "partyserver", "@modelcontextprotocol/sdk"],
  },
  {
    name: "agents-0.17.3+executor-patch/2026-05-26",
    title: "agents 0.17.3 with the target project's own patch applied, workerd 2026-05-26",
    kept: "the host's own patch of the agents package is not published",
  },
  {
    name: "agents-0.32.0/2026-11-17",
    title:
      "agents 0.32.0 / partyserver 0.5.10, workerd 2026-11-17 " +
      "(Agent only; its MCP part needs another server package and was not probed)",
    runtime: "workerd 2026-11-17",
    packages: "agents-0.32.0",
    run: runAgents,
    versions: ["agents", "partyserver", "@modelcontextprotocol/sdk"],
    withoutMcp: true,
  },
];

export const binaryOf = (folder) => `${folder}/node_modules/${WORKERD}/bin/workerd`;
export const esbuildOf = (folder) => `${folder}/node_modules/@esbuild/linux-x64/bin/esbuild`;

/** Quick probes whose answers hang on no clock: what `--check` runs when nothing is chosen. */
export const SAMPLE = {
  suite: "core/2026-05-26",
  ids: ["S1", "S2", "S3", "S4", "S5", "S9", "A1", "A21", "I1", "G1", "G9", "E1", "E3", "E8", "X1", "X5", "X6"],
};
