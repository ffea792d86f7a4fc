// Probes of storage: values, lists, transactions, and what is left after a throw or an abort (S).

import { fresh, survivors, trace } from "./scenario-tools.js";
import { attempt, LOG, sleep } from "./shared.js";

export const STORAGE = {
  S1: ["get/put/delete/getMany basics, limits, last write wins", (env) => fresh(env).call("selfTest", "basics")],
  S1kv: ["the same on a namespace without enableSql", (env) => fresh(env, "KV").call("selfTest", "basics")],
  S2: ["list ordering, prefix, limit, reverse, start/end", (env) => fresh(env).call("selfTest", "list")],
  S3: ["transaction / transactionSync atomicity and rollback", (env) => fresh(env).call("selfTest", "txn")],
  S4: ["does deleteAll() delete SQL tables and the alarm", (env) => fresh(env).call("selfTest", "deleteAll")],
  S5: ["two puts not awaited, then the handler throws", async (env) => survivors(env, "putThenThrow")],
  S6: ["put awaited, timer, put not awaited, then the handler throws", async (env) => survivors(env, "putAwaitThrow")],
  S7: ["put + setAlarm not awaited, then ctx.abort() in the same turn", async (env) => survivors(env, "putAbort")],
  S8: ["put awaited, then ctx.abort() with no other await", async (env) => survivors(env, "putAwaitAbort")],
  S8b: ["two awaited puts, then ctx.abort()", async (env) => survivors(env, "putTwoAwaitAbort")],
  S9: ["put awaited, storage.sync() awaited, then ctx.abort()", async (env) => survivors(env, "putSyncAbort")],
  S10: ["put awaited, 20 ms timer, then ctx.abort()", async (env) => survivors(env, "putTimerAbort")],
  S10b: ["put awaited, 0 ms timer, then ctx.abort()", async (env) => survivors(env, "putTickAbort")],
  S11: ["transaction committed, then ctx.abort()", async (env) => survivors(env, "putTxnAbort")],
  S12: [
    "existing key, deleteAll awaited, then ctx.abort()",
    async (env) => {
      const s = fresh(env);
      await s.call("put", ["old", 1]);
      await sleep(20);
      const r = await attempt(() => s.call("deleteAllAbort"));
      return { callerSaw: r, keysAfter: await env.PROBE.get(s.id).call("listAll") };
    },
  ],
  S13: [
    "put awaited by a handler that then waits 200 ms; another object call aborts it meanwhile",
    async (env) => {
      const s = fresh(env);
      const from = LOG.length;
      const p = attempt(() => s.call("longPut", 200));
      await sleep(60);
      const ab = await attempt(() => s.call("abort", "killed"));
      const inflight = await p;
      await sleep(300);
      return {
        aborter: ab,
        inflight,
        trace: trace(from).filter((x) => x !== "ctor"),
        keys: await env.PROBE.get(s.id).call("listAll"),
      };
    },
  ],
};
