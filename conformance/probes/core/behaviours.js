// Behaviours that a probe has an object carry out: storage, alarms, gates, background work. `o` is the object.

import { log, sleep } from "./shared.js";
import { SELF_TESTS } from "./storage-tests.js";

export const BEHAVIOURS = {
  ping: (o) => ({ instance: o.instance, count: ++o.count }),
  mark: (o, a) => {
    log("mark", { key: o.key, a });
    return o.instance;
  },
  name: (o) => ({ name: o.ctx.id.name ?? null, nameType: typeof o.ctx.id.name, ctorName: o.ctorName }),
  get: (o, k) => o.ctx.storage.get(k),
  put: async (o, [k, v]) => {
    await o.ctx.storage.put(k, v);
    return "put";
  },
  listAll: async (o) => Object.fromEntries(await o.ctx.storage.list()),
  getAlarm: (o) => o.ctx.storage.getAlarm(),
  setAlarmIn: async (o, [ms, beh]) => {
    if (beh) await o.ctx.storage.put("alarm-beh", beh);
    const at = Date.now() + ms;
    await o.ctx.storage.setAlarm(at);
    return at;
  },
  deleteAlarm: (o) => o.ctx.storage.deleteAlarm(),
  selfTest: async (o, src) => SELF_TESTS[src](o),
  waitFetch: async (o, ms) => {
    log("A-start");
    const r = await fetch(`http://127.0.0.1:${o.env.EXT}/slow?ms=${ms}`);
    await r.text();
    log("A-end");
    return "done";
  },
  waitTimer: async (o, ms) => {
    log("A-start");
    await sleep(ms);
    log("A-end");
    return "done";
  },
  waitStorage: async (o, n) => {
    log("A-start");
    for (let i = 0; i < n; i++) {
      await o.ctx.storage.put("k" + i, i);
      await o.ctx.storage.get("k" + i);
    }
    log("A-end");
    return "done";
  },
  waitSync: async (o, n) => {
    log("A-start");
    for (let i = 0; i < n; i++) {
      await o.ctx.storage.put("k" + i, i);
      await o.ctx.storage.sync();
    }
    log("A-end");
    return "done";
  },
  waitStub: async (o, [name, ms]) => {
    log("A-start");
    await o.env.PROBE.getByName(name).call("sleepQuiet", ms);
    log("A-end");
    return "done";
  },
  sleepQuiet: async (o, ms) => {
    await sleep(ms);
    return "slept";
  },
  bcwTimer: async (o, ms) => {
    log("A-start");
    await o.ctx.blockConcurrencyWhile(async () => {
      log("bcw-start");
      await sleep(ms);
      log("bcw-end");
    });
    log("A-end");
    return "done";
  },
  bcwFetch: async (o, ms) => {
    log("A-start");
    await o.ctx.blockConcurrencyWhile(async () => {
      log("bcw-start");
      await (await fetch(`http://127.0.0.1:${o.env.EXT}/slow?ms=${ms}`)).text();
      log("bcw-end");
    });
    log("A-end");
    return "done";
  },
  bcwThrow: async (o, ms) => {
    await o.ctx.storage.put("before-bcw", 1);
    try {
      await o.ctx.blockConcurrencyWhile(async () => {
        await o.ctx.storage.put("inside-bcw", 1);
        if (ms) await sleep(ms);
        throw new TypeError("bcw boom");
      });
    } catch (e) {
      log("caught-in-handler", { message: e.message });
    }
    log("after-bcw-throw");
    return "survived";
  },
  bcwDeadlock: async (o, ms) => {
    await o.ctx.blockConcurrencyWhile(async () => {
      await o.env.PROBE.getByName(o.ctx.id.name).call("ping");
    });
    return "no deadlock";
  },
  timerThenBcw: async (o) => {
    // a timer armed before a critical section: may it fire during the section?
    setTimeout(() => log("timer-fired"), 50);
    await o.ctx.blockConcurrencyWhile(async () => {
      log("bcw-start");
      await sleep(300);
      log("bcw-end");
    });
    await sleep(100);
    return "done";
  },
  txnTimer: async (o, ms) => {
    log("A-start");
    await o.ctx.storage.transaction(async (t) => {
      log("txn-start");
      await t.put("x", 1);
      await sleep(ms);
      log("txn-end");
    });
    log("A-end");
    return "done";
  },
  timerThenBcwFetch: async (o) => {
    setTimeout(() => log("timer-fired"), 50);
    await o.ctx.blockConcurrencyWhile(async () => {
      log("bcw-start");
      await (await fetch(`http://127.0.0.1:${o.env.EXT}/slow?ms=300`)).text();
      log("bcw-end");
    });
    await sleep(100);
    return "done";
  },
  laterTimerThenBcw: async (o) => {
    setTimeout(() => log("timer-fired"), 5000);
    await o.ctx.blockConcurrencyWhile(async () => {
      log("bcw-start");
      await sleep(100);
      log("bcw-end");
    });
    return "done";
  },
  fetchThenBcw: async (o) => {
    const p = fetch(`http://127.0.0.1:${o.env.EXT}/slow?ms=50`).then(() => log("fetch-resolved"));
    await o.ctx.blockConcurrencyWhile(async () => {
      log("bcw-start");
      await sleep(300);
      log("bcw-end");
    });
    await p;
    return "done";
  },
  bgPut: async (o, [ms, useWaitUntil]) => {
    const p = (async () => {
      await sleep(ms);
      await o.ctx.storage.put("bg", o.instance);
      log("bg-done");
    })();
    if (useWaitUntil) o.ctx.waitUntil(p);
    return "responded";
  },
  bgPutThrow: async (o, [ms, useWaitUntil]) => {
    const p = (async () => {
      await sleep(ms);
      await o.ctx.storage.put("bg", o.instance);
      log("bg-done");
    })();
    if (useWaitUntil) o.ctx.waitUntil(p);
    throw new Error("thrown after starting background work");
  },
  bgReject: async (o) => {
    o.ctx.waitUntil(
      (async () => {
        await sleep(20);
        throw new Error("rejected in waitUntil");
      })(),
    );
    return "responded";
  },
  longTimer: async (o, ms) => {
    setTimeout(() => log("long-timer-fired", { instance: o.instance }), ms);
    return o.instance;
  },
  longWaitUntil: async (o, ms) => {
    o.ctx.waitUntil(
      (async () => {
        await sleep(ms);
        log("long-waitUntil-done", { instance: o.instance });
      })(),
    );
    return o.instance;
  },
  spin: (o, n) => {
    let x = 0;
    for (let i = 0; i < n; i++) x = (x * 31 + i) | 0;
    return x;
  },
};
