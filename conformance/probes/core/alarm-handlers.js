// What alarm() does, by the name that the object keeps in its storage.

import { log, SHARED, sleep } from "./shared.js";

export const ALARM_HANDLERS = {
  record: async () => {},
  throwAlways: async () => {
    throw new Error("alarm boom");
  },
  throwAfterSet: async (o) => {
    await o.ctx.storage.setAlarm(Date.now() + 400);
    const n = o.alarmRuns ?? 0;
    if (n < 3) throw new Error("alarm boom after setAlarm");
    await o.ctx.storage.deleteAlarm();
  },
  deleteThenThrow: async (o) => {
    await o.ctx.storage.deleteAlarm();
    throw new Error("alarm boom after deleteAlarm");
  },
  setSelf: async (o) => {
    const before = await o.ctx.storage.getAlarm();
    if ((o.alarmRuns ?? 0) < 2) {
      await o.ctx.storage.setAlarm(Date.now() + 300);
      log("inAlarm", { before, after: typeof (await o.ctx.storage.getAlarm()) });
    } else log("inAlarm", { before });
  },
  deleteSelf: async (o) => {
    await o.ctx.storage.deleteAlarm();
    log("inAlarm", { after: await o.ctx.storage.getAlarm() });
  },
  sameTime: async (o, info) => {
    if (o.alarmRuns !== 1) return;
    SHARED.box["same:" + o.key] = Date.now() === info.scheduledTime;
    await o.ctx.storage.setAlarm(info.scheduledTime);
  },
  slow: async (o) => {
    await sleep(600);
  },
  slowSetNow: async (o) => {
    if ((o.alarmRuns ?? 0) < 2) {
      await o.ctx.storage.setAlarm(Date.now());
    }
    await sleep(400);
  },
  putThenThrow: async (o) => {
    await o.ctx.storage.put("from-alarm", ((await o.ctx.storage.get("from-alarm")) ?? 0) + 1);
    throw new Error("alarm boom after put");
  },
  abortOnce: async (o) => {
    const n = SHARED.box["abortOnce:" + o.key] ?? 0;
    SHARED.box["abortOnce:" + o.key] = n + 1;
    if (n < 1) o.ctx.abort("abort in alarm");
  },
  throwOnce: async (o) => {
    const n = SHARED.box["once:" + o.key] ?? 0;
    SHARED.box["once:" + o.key] = n + 1;
    if (n < 1) throw new Error("once");
  },
  bcwThrow: async (o) => {
    const n = SHARED.box["bcwT:" + o.key] ?? 0;
    SHARED.box["bcwT:" + o.key] = n + 1;
    if (n < 1)
      await o.ctx.blockConcurrencyWhile(async () => {
        throw new Error("bcw in alarm");
      });
  },
  deleteAllIn: async (o) => {
    await o.ctx.storage.deleteAll();
    log("inAlarm", { after: await o.ctx.storage.getAlarm(), keys: (await o.ctx.storage.list()).size });
  },
};
