// Probes of names and of input gates: what is delivered while an object waits (I, G).

import { fresh, interleave, trace } from "./scenario-tools.js";
import { attempt, LOG, SHARED, sleep, syncAttempt } from "./shared.js";

export const GATES = {
  I1: [
    "ctx.id.name: by name, unique, hex; stub.name; stub.id.name",
    async (env) => {
      const n = "id-" + crypto.randomUUID();
      const byHexFirst = env.PROBE.get(env.PROBE.idFromString(env.PROBE.idFromName(n).toString()));
      const a = await byHexFirst.call("name");
      const byNameAfter = await env.PROBE.getByName(n).call("name");
      const m = "id-" + crypto.randomUUID();
      const b = await env.PROBE.getByName(m).call("name");
      const hexAfter = await env.PROBE.get(env.PROBE.idFromString(env.PROBE.idFromName(m).toString())).call("name");
      const uq = env.PROBE.get(env.PROBE.newUniqueId());
      const stub = env.PROBE.getByName("zz");
      return {
        hexFirst: a.name,
        thenByName: byNameAfter.name === n ? "name" : byNameAfter.name,
        byNameFirst: b.name === m ? "name" : b.name,
        thenHex: hexAfter.name === m ? "name" : hexAfter.name,
        unique: (await uq.call("name")).name,
        stubName: stub.name,
        stubIdName: stub.id.name,
        uniqueStubName: uq.name ?? null,
        badHex: syncAttempt(() => env.PROBE.idFromString("zz")),
        badHex64: syncAttempt(() => env.PROBE.idFromString("0".repeat(64))),
        equals: env.PROBE.idFromName("q").equals(env.PROBE.idFromName("q")),
        hexLen: env.PROBE.idFromName("q").toString().length,
      };
    },
  ],
  G1: ["A awaits 300 put/get pairs; B sent at the same time", (env) => interleave(env, "waitStorage", 300, 0)],
  G1b: ["A awaits 50 put+sync(); B sent at the same time", (env) => interleave(env, "waitSync", 50, 0)],
  G2: ["A awaits an external fetch of 300 ms; B sent 60 ms later", (env) => interleave(env, "waitFetch", 300, 60)],
  G3: ["A awaits a 300 ms timer; B sent 60 ms later", (env) => interleave(env, "waitTimer", 300, 60)],
  G4: [
    "A awaits a call to another object for 300 ms; B sent 60 ms later",
    (env) => interleave(env, "waitStub", ["other-" + crypto.randomUUID(), 300], 60),
  ],
  G5: [
    "A in blockConcurrencyWhile awaiting a timer 300 ms; B sent 60 ms later",
    (env) => interleave(env, "bcwTimer", 300, 60),
  ],
  G5b: [
    "A in blockConcurrencyWhile awaiting a fetch 300 ms; B sent 60 ms later",
    (env) => interleave(env, "bcwFetch", 300, 60),
  ],
  G6: [
    "timer armed (50 ms) before a 300 ms blockConcurrencyWhile",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const f = LOG.length;
      await s.call("timerThenBcw");
      return { order: trace(f) };
    },
  ],
  G6b: [
    "timer armed (50 ms) before a blockConcurrencyWhile that awaits a 300 ms fetch",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const f = LOG.length;
      const r = await attempt(() => s.call("timerThenBcwFetch"), 10_000);
      return { r, order: trace(f) };
    },
  ],
  G6c: [
    "timer armed for later (5 s) before a blockConcurrencyWhile that awaits a 100 ms timer",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const f = LOG.length;
      const r = await attempt(() => s.call("laterTimerThenBcw"), 10_000);
      return { r, order: trace(f) };
    },
  ],
  G6d: [
    "fetch started before a blockConcurrencyWhile, answered during it",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const f = LOG.length;
      const r = await attempt(() => s.call("fetchThenBcw"), 10_000);
      return { r, order: trace(f) };
    },
  ],
  G7: [
    "blockConcurrencyWhile throws after 150 ms: its caller, a waiting request, a later one",
    async (env) => {
      const s = fresh(env);
      const first = await s.call("ping");
      const f = LOG.length;
      const a = attempt(() => s.call("bcwThrow", 150));
      await sleep(50);
      const b = attempt(() => s.call("ping"));
      const ra = await a,
        rb = await b;
      const later = await attempt(() => s.call("ping"));
      const l2 = await attempt(() => env.PROBE.get(s.id).call("ping"));
      return {
        callerSaw: ra,
        waitingRequestSaw: rb.ok ? { ok: rb.ok.instance === first.instance ? "old instance" : "new instance" } : rb,
        sameStubLater: later.ok ? (later.ok.instance !== first.instance ? "new instance" : "old") : later,
        newStubLater: l2.ok ? "ok" : l2,
        trace: trace(f),
        keys: await env.PROBE.get(s.id).call("listAll"),
      };
    },
  ],
  G8: [
    "constructor blockConcurrencyWhile 200 ms: requests wait",
    async (env) => {
      const s = fresh(env);
      SHARED.box["ctorBcw:" + s.id] = 200;
      const f = LOG.length;
      await Promise.all([s.call("mark", 1), s.call("mark", 2)]);
      delete SHARED.box["ctorBcw:" + s.id];
      return { order: trace(f) };
    },
  ],
  G9: [
    "constructor throws once; constructor blockConcurrencyWhile throws once",
    async (env) => {
      const s = fresh(env);
      SHARED.box["ctorThrow:" + s.id] = 1;
      const a = await attempt(() => s.call("ping"));
      const a2 = await attempt(() => s.call("ping"));
      const a3 = await attempt(() => env.PROBE.get(s.id).call("ping"));
      const u = fresh(env);
      SHARED.box["ctorBcwThrow:" + u.id] = 1;
      const b = await attempt(() => u.call("ping"));
      const b2 = await attempt(() => u.call("ping"));
      return {
        ctorThrow: a,
        sameStubAgain: a2.ok ? "ok" : a2,
        newStub: a3.ok ? "ok" : a3,
        ctorBcwThrow: b,
        then2: b2.ok ? "ok" : b2,
      };
    },
  ],
  G10: [
    "delivery order of 40 RPC calls on one stub; 40 fetches on one stub; mixed; over 4 stubs",
    async (env) => {
      const out = {};
      const sorted = (a) => a.every((x, i) => i === 0 || a[i - 1] < x);
      for (const mode of ["rpc", "fetch", "mixed", "stubs4"]) {
        const s = fresh(env);
        await s.call("ping");
        const f = LOG.length;
        const ps = [];
        for (let i = 0; i < 40; i++) {
          const st = mode === "stubs4" ? env.PROBE.get(s.id) : s;
          ps.push(mode === "fetch" || (mode === "mixed" && i % 2) ? st.fetch("http://x/seen/" + i) : st.seen(i));
        }
        await Promise.all(ps);
        out[mode] = sorted(
          LOG.slice(f)
            .filter((e) => e.tag === "seen")
            .map((e) => Number(e.i)),
        );
      }
      return { inOrder: out };
    },
  ],
  G11: [
    "transaction() awaiting a 200 ms timer; B sent 50 ms later",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const f = LOG.length;
      const a = s.call("txnTimer", 200);
      await sleep(50);
      await s.call("mark");
      await a;
      return { order: trace(f).filter((x) => x !== "timer-fired") };
    },
  ],
};
