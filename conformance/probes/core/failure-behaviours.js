// Behaviours that end badly, or go on while their object is reset: throws, aborts, late writes. `o` is the object.

import { attempt, describeError, log, SHARED, sleep } from "./shared.js";

class CustomError extends Error {
  constructor(m) {
    super(m);
    this.name = "CustomError";
    this.code = 42;
  }
}

export const FAILURE_BEHAVIOURS = {
  throwError: () => {
    throw new Error("plain boom");
  },
  throwType: () => {
    throw new TypeError("type boom");
  },
  throwCustom: () => {
    throw new CustomError("custom boom");
  },
  throwString: () => {
    throw "a string";
  },
  throwObject: () => {
    throw { weird: true };
  },
  putThenThrow: async (o) => {
    o.ctx.storage.put("a", 1);
    o.ctx.storage.put("b", 2);
    throw new Error("after puts");
  },
  putAwaitThrow: async (o) => {
    await o.ctx.storage.put("a", 1);
    await sleep(30);
    o.ctx.storage.put("b", 2);
    throw new Error("after puts");
  },
  putAbort: (o) => {
    o.ctx.storage.put("a", 1);
    o.ctx.storage.setAlarm(Date.now() + 600000);
    o.ctx.abort("abort after put");
  },
  putAwaitAbort: async (o) => {
    await o.ctx.storage.put("a", 1);
    o.ctx.abort("abort after awaited put");
  },
  putTwoAwaitAbort: async (o) => {
    await o.ctx.storage.put("a", 1);
    await o.ctx.storage.put("b", 2);
    o.ctx.abort("abort after 2 awaited puts");
  },
  putSyncAbort: async (o) => {
    await o.ctx.storage.put("a", 1);
    await o.ctx.storage.sync();
    o.ctx.abort("abort after sync");
  },
  putTimerAbort: async (o) => {
    await o.ctx.storage.put("a", 1);
    await sleep(20);
    o.ctx.abort("abort after timer");
  },
  putTickAbort: async (o) => {
    await o.ctx.storage.put("a", 1);
    await sleep(0);
    o.ctx.abort("abort after 0 ms timer");
  },
  putTxnAbort: async (o) => {
    await o.ctx.storage.transaction(async (t) => {
      await t.put("a", 1);
    });
    o.ctx.abort("abort after transaction");
  },
  deleteAllAbort: async (o) => {
    await o.ctx.storage.deleteAll();
    o.ctx.abort("abort after deleteAll");
  },
  abort: (o, reason) => {
    if (reason === null) o.ctx.abort();
    else o.ctx.abort(reason);
  },
  abortCatch: (o) => {
    try {
      o.ctx.abort("try to catch me");
    } catch (e) {
      log("caught-abort", { m: e.message });
    } finally {
      log("finally-ran");
    }
    log("after-abort");
    return "returned";
  },
  abortLater: async (o, ms) => {
    setTimeout(() => o.ctx.abort("aborted by timer"), ms);
    return "armed";
  },
  hop: async (o, [name, beh, arg]) => {
    try {
      return await o.env.PROBE.getByName(name).call(beh, arg);
    } catch (e) {
      SHARED.box.hopSaw = describeError(e);
      throw e;
    }
  },
  longPut: async (o, ms) => {
    await o.ctx.storage.put("first", 1);
    log("L-first");
    await sleep(ms);
    log("L-resumed");
    await o.ctx.storage.put("second", 1);
    log("L-second");
    return "done";
  },
  longPut2: async (o, ms) => {
    await o.ctx.storage.put("first", 1);
    log("Z-first");
    await sleep(ms);
    log("Z-resumed");
    log("Z-put", { r: await attempt(() => o.ctx.storage.put("second", 1), 500) });
    log("Z-get", { r: await attempt(() => o.ctx.storage.get("first"), 500) });
    log("Z-setAlarm", { r: await attempt(() => o.ctx.storage.setAlarm(Date.now() + 9e6), 500) });
    log("Z-fetch", { r: await attempt(async () => (await fetch(`http://127.0.0.1:${o.env.EXT}/`)).status, 500) });
    log("Z-stub", {
      r: await attempt(async () => typeof (await o.env.PROBE.getByName("zstub").call("ping")).instance, 500),
    });
    return "done";
  },
  putNow: async (o, [k, v]) => {
    const p = o.ctx.storage.put(k, v);
    const w = sleep(30);
    SHARED.box.kill && SHARED.box.kill();
    await p;
    log("N-put-resolved");
    await w;
    log("N-after");
    return "done";
  },
};
