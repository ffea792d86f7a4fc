// Probes of errors and resets: what callers see, what goes on, what is kept (E).

import unsafe from "workerd:unsafe";
import { fresh, trace } from "./scenario-tools.js";
import { attempt, LOG, SHARED, sleep } from "./shared.js";

export const ERRORS = {
  E1: [
    "errors thrown by RPC methods and by fetch()",
    async (env) => {
      const out = {};
      for (const b of ["throwError", "throwType", "throwCustom", "throwString", "throwObject"])
        out[b] = await attempt(() => fresh(env).call(b));
      out.fetchThrow = await attempt(async () => (await fresh(env).fetch("http://x/throw")).status);
      out.missingMethod = await attempt(() => fresh(env).nope());
      const s = fresh(env);
      const i1 = (await s.call("ping")).instance;
      await attempt(() => s.call("throwError"));
      out.instanceSurvivesThrow = (await s.call("ping")).instance === i1;
      return out;
    },
  ],
  E2: [
    "ctx.abort(reason): aborter's caller, other in-flight callers (RPC, fetch), same stub later, new stub",
    async (env) => {
      const s = fresh(env);
      const i1 = (await s.call("ping")).instance;
      const w = attempt(() => s.call("waitTimer", 1500));
      const wf = attempt(async () => (await s.fetch("http://x/beh?b=waitTimer&a=1500")).status);
      await sleep(50);
      const ab = await attempt(() => s.call("abort", "my reason"));
      const inflight = await w;
      const inflightFetch = await wf;
      const same = await attempt(() => s.call("ping"));
      const neu = await attempt(() => env.PROBE.get(s.id).call("ping"));
      return {
        aborter: ab,
        inflightRpc: inflight,
        inflightFetch,
        sameStub: same.ok ? (same.ok.instance !== i1 ? "new instance" : "old") : same,
        newStub: neu.ok ? (neu.ok.instance !== i1 ? "new instance" : "old") : neu,
      };
    },
  ],
  E3: [
    "ctx.abort() without a reason",
    async (env) => ({ aborter: await attempt(() => fresh(env).call("abort", null)) }),
  ],
  E4: [
    "does code after ctx.abort() run, can it be caught",
    async (env) => {
      const s = fresh(env);
      const f = LOG.length;
      const r = await attempt(() => s.call("abortCatch"));
      await sleep(50);
      return { caller: r, trace: trace(f) };
    },
  ],
  E5: [
    "ctx.abort() from a timer, no request in progress; then a call",
    async (env) => {
      const s = fresh(env);
      await s.call("abortLater", 50);
      await sleep(200);
      const r = await attempt(() => s.call("ping"));
      return { nextCall: r.ok ? { ok: r.ok.count } : r };
    },
  ],
  E6: [
    "all objects aborted from outside (stands in for a code update): in-flight callers, storage after",
    async (env) => {
      const s = fresh(env);
      const i1 = (await s.call("ping")).instance;
      const f = LOG.length;
      const w = attempt(() => s.call("longPut", 400));
      await sleep(100);
      await unsafe.abortAllDurableObjects();
      const inflight = await w;
      await sleep(500);
      const same = await attempt(() => s.call("ping"));
      const neu = await attempt(() => env.PROBE.get(s.id).call("ping"));
      return {
        inflight,
        trace: trace(f).filter((x) => x.startsWith("L-")),
        keys: await env.PROBE.get(s.id).call("listAll"),
        sameStub: same.ok ? (same.ok.instance !== i1 ? "new instance" : "old") : same,
        newStub: neu.ok ? "new instance" : neu,
      };
    },
  ],
  E7: [
    "storage of an aborted instance used by its successor through a module global",
    async (env) => {
      const s = fresh(env);
      await s.call("makeSelf");
      await attempt(() => s.call("abort", "bye"));
      const n = env.PROBE.get(s.id);
      return {
        get: await attempt(() => n.call("useStorageGet")),
        put: await attempt(() => n.call("useStoragePut")),
        getAlarm: await attempt(() => n.call("useStorageGetAlarm")),
        sql: await attempt(() => n.call("useSqlExec")),
        memory: await attempt(() => n.call("usePlainMethod")),
      };
    },
  ],
  E8: [
    "two hops, worker -> A -> B: B throws; B aborts; what A sees and what the worker sees",
    async (env) => {
      const out = {};
      for (const [k, b, arg] of [
        ["throw", "throwType"],
        ["abort", "abort", "B aborted"],
        ["custom", "throwCustom"],
      ]) {
        const r = await attempt(() => fresh(env).call("hop", ["hopB-" + crypto.randomUUID(), b, arg]));
        out[k] = { A: SHARED.box.hopSaw, worker: r };
      }
      return out;
    },
  ],
  E9: [
    "code of an instance that was aborted from outside: does it go on, what do its storage calls, fetches and stubs say",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const f = LOG.length;
      const w = attempt(() => s.call("longPut2", 300), 8000);
      await sleep(100);
      await unsafe.abortAllDurableObjects();
      const caller = await w;
      await sleep(3500);
      return {
        caller,
        zombie: LOG.slice(f)
          .filter((e) => e.tag.startsWith("Z-"))
          .map(({ t, ...r }) => r),
        keys: await env.PROBE.get(s.id).call("listAll"),
        alarm: await env.PROBE.get(s.id).call("getAlarm"),
      };
    },
  ],
  E10: [
    "a call queued behind the call that aborts (same turn), RPC and fetch",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const a = attempt(() => s.call("abort", "first aborts")),
        b = attempt(() => s.call("ping")),
        c = attempt(async () => (await s.fetch("http://x/ping")).status),
        d = attempt(() => env.PROBE.get(s.id).call("ping"));
      return { first: await a, queuedRpc: await b, queuedFetch: await c, otherStubRpc: await d };
    },
  ],
  E11: [
    "a put issued, its object aborted from outside in the same turn of the worker",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const f = LOG.length;
      const w = attempt(() => s.call("putNow", ["k", 1]));
      const ab = unsafe.abortAllDurableObjects();
      await ab;
      const caller = await w;
      await sleep(100);
      return {
        caller,
        trace: trace(f).filter((x) => x.startsWith("N-")),
        keys: await env.PROBE.get(s.id).call("listAll"),
      };
    },
  ],
};
