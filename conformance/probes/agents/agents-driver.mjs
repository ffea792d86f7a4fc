// Bundles the agents worker with the packages of an installation and drives its probes in the real runtime.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, Failure } from "../../lib/failure.mjs";
import { inParallel, repeat, summarise } from "../../lib/runs.mjs";
import { temporaryFolder, withProcesses } from "../../lib/workerd.mjs";
import { AgentsWorkerd } from "./client.mjs";
import { M } from "./mcp-probes.mjs";

const STEPS = (id) => `agents-worker.js (P.${id}) or agents-driver.mjs (M), bundled with esbuild`;
const CLASSES = { Ag: "AG", Fast: "FAST", Mcp: "MCP" };

/** What is bundled in place of modules that the probes never touch, and that cannot be bundled. */
const STAND_INS = {
  // the e-mail helper pulls in CommonJS modules of Node
  mimetext: "export const createMimeMessage = () => ({});",
  "cloudflare:email": "export class EmailMessage {}",
};
const NO_MCP = { "agents/mcp": "export class McpAgent {}" };

/** Bundles into a temporary folder; the sources go next to `node_modules`, where the bundler finds the packages. */
function bundle({ packages, esbuild, withoutMcp }) {
  const sources = join(packages, `sources-${process.pid}`);
  const out = join(temporaryFolder("bundle-"), "worker.js");
  mkdirSync(sources);
  try {
    cpSync(import.meta.dirname, sources, { recursive: true, filter: (path) => !path.endsWith(".mjs") });
    const standIns = Object.entries({ ...STAND_INS, ...(withoutMcp ? NO_MCP : {}) });
    const aliases = standIns.map(([name, text], index) => {
      const path = join(sources, `stand-in-${index}.js`);
      writeFileSync(path, text);
      return `--alias:${name}=${path}`;
    });
    const flags = ["--bundle", "--format=esm", "--platform=neutral", "--main-fields=module,main", "--keep-names"];
    const conditions = "--conditions=workerd,worker,import,browser";
    const externals = ["cloudflare:*", "node:*", "workerd:*"].map((name) => "--external:" + name);
    const entry = join(sources, "agents-worker.js");
    const args = [entry, ...flags, conditions, ...externals, ...aliases, "--outfile=" + out, "--log-level=error"];
    execFileSync(esbuild, args, { stdio: "pipe", cwd: packages });
  } catch (error) {
    throw new Failure(EXIT.usage, `esbuild cannot bundle the agents worker: ${String(error.stderr ?? error).trim()}`);
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
  return out;
}

function worker(target) {
  const names = Object.keys(CLASSES);
  return {
    binary: target.binary,
    flags: [],
    modules: [bundle(target)],
    namespaces: names.map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`),
    bindings: names.map((name) => `(name = "${CLASSES[name]}", durableObjectNamespace = "${name}")`),
    graceMs: 2000,
  };
}

/** Runs the probes that `choose` picks from the list of all, each as often as it says; `done` gets each result. */
export async function runAgents(target, choose, done) {
  const what = worker(target);
  const front = await new AgentsWorkerd(what).start();
  const entry =
    (kind) =>
    ([id, description]) => ({ id, kind, description, steps: STEPS(id) });
  const own = Object.entries(M).map(([id, [description]]) => [id, description]);
  const chosen = choose([...(await front.json("/list")).map(entry("front")), ...own.map(entry("process"))]);
  for (const probe of chosen.filter(({ kind }) => kind === "front")) {
    done(summarise(probe, await repeat(probe.times, () => front.json("/run?id=" + probe.id))));
  }
  await front.stop();
  front.clean();
  // three at a time: most of the time is idle waiting
  const rest = chosen.filter(({ kind }) => kind === "process");
  await inParallel(3, rest, async (probe) => {
    const once = () =>
      withProcesses(
        () => new AgentsWorkerd(what),
        async (start) => ({ ok: await M[probe.id][1](await start()) }),
      );
    done(summarise(probe, await repeat(probe.times, once)));
  });
}
