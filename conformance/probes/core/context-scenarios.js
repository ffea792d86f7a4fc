// Probes of I/O objects that are used in another context than their own (X).

import { cross, fresh } from "./scenario-tools.js";
import { attempt, LOG, SHARED, sleep } from "./shared.js";

export const CONTEXTS = {
  X1: [
    "fetch Response body of object A read by object B (text / reader / cancel / clone / status)",
    async (env) => ({
      text: await cross(env, "makeBody", "useBodyText"),
      reader: await cross(env, "makeBody", "useBodyReader"),
      cancel: await cross(env, "makeBody", "useBodyCancel"),
      clone: await cross(env, "makeBody", "useClone"),
      status: await cross(env, "makeBody", "useResponseReturn"),
    }),
  ],
  X2: [
    "Durable Object stub of A used by B (RPC, fetch, id)",
    async (env) => ({
      rpc: await cross(env, "makeStub", "useStub", "t-" + crypto.randomUUID()),
      fetch: await cross(env, "makeStub", "useStubFetch", "t-" + crypto.randomUUID()),
      id: await cross(env, "makeStub", "useStubId", "t"),
    }),
  ],
  X3: [
    "client WebSocket of A used by B (send, close)",
    async (env) => ({ send: await cross(env, "makeWs", "useWs"), close: await cross(env, "makeWs", "useWsClose") }),
  ],
  X4: [
    "TCP socket of A used by B (close, write); what the TCP peer then saw",
    async (env) => {
      const ev = async () => (await fetch(`http://127.0.0.1:${env.EXT}/tcp-events`)).json();
      const n = (await ev()).length;
      const close = await cross(env, "makeSocket", "useSocketClose");
      await sleep(300);
      const e1 = (await ev()).slice(n);
      const m = (await ev()).length;
      const write = await cross(env, "makeSocket", "useSocketWrite");
      await sleep(300);
      return { close, peerAfterClose: e1, write, peerAfterWrite: (await ev()).slice(m) };
    },
  ],
  X5: [
    "storage of A used by B (get, put, setAlarm, getAlarm, sql)",
    async (env) => {
      const o = {};
      for (const u of [
        "useStorageGet",
        "useStoragePut",
        "useStorageSetAlarm",
        "useStorageGetAlarm",
        "useSqlExec",
        "useId",
        "useWaitUntil",
        "useBcw",
        "usePlainMethod",
      ])
        o[u] = (await cross(env, "makeSelf", u)).used;
      return o;
    },
  ],
  X6: [
    "A.ctx.abort() called from B's handler: who is aborted",
    async (env) => {
      const A = fresh(env),
        B = fresh(env);
      const a1 = (await A.call("ping")).instance,
        b1 = (await B.call("ping")).instance;
      await A.call("makeSelf");
      const r = await attempt(() => B.call("useAbort"));
      const a2 = await attempt(() => A.call("ping")),
        b2 = await attempt(() => B.call("ping"));
      const ap = await attempt(() => A.call("put", ["x", 1]));
      return {
        callerOfB: r,
        A: a2.ok ? (a2.ok.instance === a1 ? "same instance" : "new instance") : a2,
        B: b2.ok ? (b2.ok.instance === b1 ? "same instance" : "new instance") : b2,
        AputAfter: ap,
      };
    },
  ],
  X7: [
    "promise of A's 200 ms timer awaited by B; A's fetch promise awaited by B",
    async (env) => ({
      timer: (await cross(env, "makeTimerPromise", "useTimerPromise", 200, 2000)).used,
      fetch: (await cross(env, "makeFetchPromise", "useFetchPromise", 200, 2000)).used,
    }),
  ],
  X8: [
    "plain deferred made and awaited in A, resolved by B: does A resume in its own context",
    async (env) => {
      const A = fresh(env),
        B = fresh(env);
      await A.call("makeDeferred");
      const p = attempt(() => A.call("awaitDeferred"), 3000);
      await sleep(50);
      const r = await attempt(() => B.call("resolveDeferred", 5));
      const v = await p;
      return { resolver: r, waiter: v, AStored: await A.call("get", "resumed") };
    },
  ],
  X9: [
    "AbortController, TransformStream and interval id of A used by B",
    async (env) => ({
      abort: (await cross(env, "makeAbortController", "useAbortController")).used,
      write: (await cross(env, "makeTransform", "useTransformWrite")).used,
      read: (await cross(env, "makeTransform", "useTransformRead")).used,
      clearInterval: await (async () => {
        const A = fresh(env),
          B = fresh(env);
        await A.call("makeInterval", 30);
        await sleep(100);
        const n1 = LOG.filter((e) => e.tag === "interval" && e.key === A.id.toString()).length;
        const r = await attempt(() => B.call("useClearInterval"));
        await sleep(200);
        const n2 = LOG.filter((e) => e.tag === "interval" && e.key === A.id.toString()).length;
        await attempt(() => A.call("abort", "stop interval"));
        return { r, stillTicking: n2 > n1 + 1 };
      })(),
    }),
  ],
  X10: [
    "a body created in one stateless request used in another stateless request",
    async (env) => ({
      make: await (await env.SELF.fetch("http://x/iomake")).json(),
      use: await (await env.SELF.fetch("http://x/iouse")).json(),
    }),
  ],
  X11: [
    "a body created in a stateless request used in an object",
    async (env) => {
      await (await env.SELF.fetch("http://x/iomake")).json();
      SHARED.box.res = SHARED.box.workerRes;
      return { use: await attempt(() => fresh(env).call("useBodyText")) };
    },
  ],
};
