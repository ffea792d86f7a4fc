// Behaviours for work across contexts: makeX keeps an I/O object that this object created, useX uses it in another one.

import { connect } from "cloudflare:sockets";
import { attempt, log, SHARED, sleep } from "./shared.js";

export const CONTEXT_BEHAVIOURS = {
  makeBody: async (o) => {
    SHARED.box.res = await fetch(`http://127.0.0.1:${o.env.EXT}/big`);
    return "stored";
  },
  useBodyText: () => attempt(() => SHARED.box.res.text()),
  useBodyReader: () => attempt(async () => (await SHARED.box.res.body.getReader().read()).done),
  useBodyCancel: () =>
    attempt(async () => {
      await SHARED.box.res.body.cancel("x");
      return "cancelled";
    }),
  useResponseReturn: () => attempt(async () => SHARED.box.res.status),
  useClone: () => attempt(async () => SHARED.box.res.clone().status),
  makeStub: async (o, n) => {
    SHARED.box.stub = o.env.PROBE.getByName(n);
    return "stored";
  },
  useStub: () => attempt(() => SHARED.box.stub.call("ping")),
  useStubFetch: () => attempt(async () => (await SHARED.box.stub.fetch("http://x/ping")).status),
  useStubId: () => attempt(async () => typeof SHARED.box.stub.id.toString()),
  makeWs: async (o) => {
    const r = await fetch(`http://127.0.0.1:${o.env.EXT}/ws`, { headers: { Upgrade: "websocket" } });
    r.webSocket.accept();
    SHARED.box.ws = r.webSocket;
    return r.status;
  },
  useWs: () =>
    attempt(async () => {
      SHARED.box.ws.send("hi");
      return "sent";
    }),
  useWsClose: () =>
    attempt(async () => {
      SHARED.box.ws.close(1000, "x");
      return "closed";
    }),
  makeSocket: async (o) => {
    const s = connect({ hostname: "127.0.0.1", port: Number(o.env.TCP) });
    await s.opened;
    const w = s.writable.getWriter();
    SHARED.box.socket = s;
    SHARED.box.writer = w;
    return "open";
  },
  useSocketClose: () =>
    attempt(async () => {
      await SHARED.box.socket.close();
      return "closed";
    }),
  useSocketWrite: () =>
    attempt(async () => {
      await SHARED.box.writer.write(new Uint8Array([1]));
      return "wrote";
    }),
  makeTimerPromise: (o, ms) => {
    SHARED.box.timerPromise = sleep(ms).then(() => "from-A");
    return "stored";
  },
  useTimerPromise: (o, ms) => attempt(() => SHARED.box.timerPromise, ms),
  makeFetchPromise: (o, ms) => {
    SHARED.box.fetchPromise = fetch(`http://127.0.0.1:${o.env.EXT}/slow?ms=${ms}`);
    SHARED.box.fetchPromise.catch(() => {});
    return "stored";
  },
  useFetchPromise: (o, ms) => attempt(async () => (await SHARED.box.fetchPromise).status, ms),
  makeDeferred: (o) => {
    SHARED.box.deferred = Promise.withResolvers();
    return "stored";
  },
  awaitDeferred: async (o) => {
    const v = await SHARED.box.deferred.promise;
    log("deferred-resumed", { key: o.key, v });
    await o.ctx.storage.put("resumed", 1);
    return v;
  },
  resolveDeferred: (o, v) => {
    SHARED.box.deferred.resolve(v);
    log("deferred-resolved-by", { key: o.key });
    return "resolved";
  },
  makeSelf: (o) => {
    SHARED.box.self = o;
    return o.instance;
  },
  usePlainMethod: () => attempt(async () => SHARED.box.self.count),
  useStorageGet: () => attempt(() => SHARED.box.self.ctx.storage.get("x")),
  useStoragePut: () =>
    attempt(async () => {
      await SHARED.box.self.ctx.storage.put("x", "cross");
      return "put";
    }),
  useStorageSetAlarm: () =>
    attempt(async () => {
      await SHARED.box.self.ctx.storage.setAlarm(Date.now() + 60000);
      return "set";
    }),
  useStorageGetAlarm: () => attempt(() => SHARED.box.self.ctx.storage.getAlarm()),
  useSqlExec: () => attempt(async () => SHARED.box.self.ctx.storage.sql.exec("SELECT 1 AS one").toArray()),
  useId: () => attempt(async () => typeof SHARED.box.self.ctx.id.toString()),
  useWaitUntil: () =>
    attempt(async () => {
      SHARED.box.self.ctx.waitUntil(sleep(1));
      return "ok";
    }),
  useAbort: (o) => {
    SHARED.box.self.ctx.abort("abort called through another object's ctx");
  },
  useBcw: () =>
    attempt(async () => {
      await SHARED.box.self.ctx.blockConcurrencyWhile(async () => {});
      return "ok";
    }),
  makeAbortController: () => {
    SHARED.box.ac = new AbortController();
    return "stored";
  },
  useAbortController: () =>
    attempt(async () => {
      SHARED.box.ac.abort("x");
      return SHARED.box.ac.signal.aborted;
    }),
  makeTransform: () => {
    const t = new TransformStream();
    SHARED.box.tw = t.writable.getWriter();
    SHARED.box.tr = t.readable;
    return "stored";
  },
  useTransformWrite: () =>
    attempt(async () => {
      SHARED.box.tw.write(new Uint8Array([1]));
      return "wrote";
    }),
  useTransformRead: () => attempt(async () => (await SHARED.box.tr.getReader().read()).done),
  makeInterval: (o, ms) => {
    SHARED.box.iv = setInterval(() => log("interval", { key: o.key }), ms);
    return "stored";
  },
  useClearInterval: () =>
    attempt(async () => {
      clearInterval(SHARED.box.iv);
      return "cleared";
    }),
  getWebSockets: (o) =>
    o.ctx.getWebSockets().map((w) => ({ state: w.readyState, att: w.deserializeAttachment(), tags: o.ctx.getTags(w) })),
};
