// Drives the core probes in the real runtime: the scenarios of the worker, and the probes that need whole processes.

import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { startLoopback } from "../../lib/loopback.mjs";
import { inParallel, repeat, summarise } from "../../lib/runs.mjs";
import { Workerd, withProcesses } from "../../lib/workerd.mjs";
import { sse, webSockets } from "./clients.mjs";
import { PROCESS_PROBES } from "./proc-probes.mjs";

const MAIN = "probe-worker.js";
const NAMESPACES = [
  `(className = "Probe", uniqueKey = "probe", enableSql = true)`,
  `(className = "ProbeKv", uniqueKey = "probekv")`,
  `(className = "NoAlarm", uniqueKey = "noalarm", enableSql = true)`,
];

class ProbeWorkerd extends Workerd {
  call(name, beh, arg) {
    return this.json("/call", { method: "POST", body: JSON.stringify({ name, beh, arg }) });
  }
  callHex(hex, beh, arg) {
    return this.json("/call", { method: "POST", body: JSON.stringify({ hex, beh, arg }) });
  }
}

function worker({ binary, flags }, loopback) {
  const here = import.meta.dirname;
  const others = readdirSync(here).filter((name) => name.endsWith(".js") && name !== MAIN);
  return {
    binary,
    flags,
    modules: [MAIN, ...others.sort()].map((name) => join(here, name)),
    namespaces: NAMESPACES,
    bindings: [
      `(name = "PROBE", durableObjectNamespace = "Probe")`,
      `(name = "KV", durableObjectNamespace = "ProbeKv")`,
      `(name = "NOALARM", durableObjectNamespace = "NoAlarm")`,
      `(name = "SELF", service = "main")`,
      `(name = "EXT", text = "${loopback.http}")`,
      `(name = "TCP", text = "${loopback.tcp}")`,
    ],
    graceMs: 3000,
  };
}

function describe(lists, flags) {
  const short = flags.length
    ? (id) => `probe-worker.js, scenario P.${id} with extra compatibility flags`
    : (id) =>
        `probe-worker.js, scenario P.${id} run by the front worker (GET /run?id=...), ` +
        "the stated number of times in one workerd process";
  const entry =
    (kind, steps) =>
    ([id, description]) => ({ id, kind, description, steps: steps(id) });
  return [
    ...lists.short.map(entry("short", short)),
    ...Object.entries(PROCESS_PROBES)
      .map(([id, [description]]) => [id, description])
      .map(entry("process", (id) => `proc-probes.mjs, entry ${id}; a fresh workerd process for each run`)),
    ...lists.long.map(entry("long", (id) => `probe-worker.js, scenario LONG.${id}`)),
  ];
}

/** Runs the probes that `choose` picks from the list of all, each as often as it says; `done` gets each result. */
export async function runCore(target, choose, done) {
  const loopback = await startLoopback();
  try {
    const what = worker(target, loopback);
    const front = await new ProbeWorkerd(what).start();
    const chosen = choose(describe(await front.json("/list"), target.flags));
    const of = (kind) => chosen.filter((probe) => probe.kind === kind);
    for (const probe of of("short")) await runScenario(front, probe, done);
    await front.stop();
    front.clean();
    await runProcesses(what, of("process"), target.packages, done);
    if (of("long").length) await runLong(what, of("long"), done);
  } finally {
    loopback.close();
  }
}

async function runScenario(front, probe, done) {
  done(summarise(probe, await repeat(probe.times, () => front.json("/run?id=" + probe.id))));
}

/** Three at a time: most of the time is idle waiting. */
async function runProcesses(what, probes, packages, done) {
  const WebSocket = createRequire(join(packages, "x.js"))("ws");
  const tools = { sse, ws: webSockets(WebSocket) };
  await inParallel(3, probes, async (probe) => {
    const make = (options) => new ProbeWorkerd(what, options);
    const once = () => withProcesses(make, (start) => PROCESS_PROBES[probe.id][1]({ start, ...tools }));
    done(summarise(probe, await repeat(probe.times, once)));
  });
}

/** All at once: they wait for minutes. */
async function runLong(what, probes, done) {
  const front = await new ProbeWorkerd(what).start();
  await Promise.all(probes.map((probe) => runScenario(front, probe, done)));
  await front.stop();
  front.clean();
}
