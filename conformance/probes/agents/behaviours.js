// Behaviours that a probe has an agent carry out, and the snapshot of its state. `o` is the agent.

import { err, rel, sleep } from "./shared.js";

async function snap(o) {
  const keys = [...(await o.ctx.storage.list()).keys()];
  let schedules = "no table",
    tables = [];
  try {
    schedules = o.ctx.storage.sql
      .exec("SELECT callback, type, time FROM cf_agents_schedules")
      .toArray()
      .map((r) => [r.callback, r.type]);
  } catch {}
  try {
    tables = o.ctx.storage.sql
      .exec("SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'cf_agent%'")
      .toArray()
      .map((r) => r.name)
      .sort();
  } catch {}
  let name;
  try {
    name = o.name;
  } catch (e) {
    name = err(e);
  }
  return {
    alarmInSec: rel(await o.ctx.storage.getAlarm()),
    keys,
    psName: (await o.ctx.storage.get("__ps_name")) ?? null,
    schedules,
    tables,
    refs: o._keepAliveRefs,
    name,
    idName: o.ctx.id.name ?? null,
    webSockets: o.ctx.getWebSockets().length,
    instance: o.instance,
  };
}
export const BEH = {
  snap,
  ping: (o) => o.instance,
  onStarts: (o) => o.onStarts,
  setAlarm: async (o, ms) => {
    await o.ctx.storage.setAlarm(Date.now() + ms);
  },
  schedule: async (o, [sec, cb]) => (await o.schedule(sec, cb)).id,
  cancel: (o, id) => o.cancelSchedule(id),
  keepAlive: async (o, n) => {
    (o.disposers ??= []).push(await o.keepAlive());
    return o._keepAliveRefs;
  },
  dispose: async (o) => {
    o.disposers.pop()();
    return o._keepAliveRefs;
  },
  doubleDispose: async (o) => {
    const d = await o.keepAlive();
    const e = await o.keepAlive();
    d();
    d();
    d();
    const mid = o._keepAliveRefs;
    e();
    return [mid, o._keepAliveRefs];
  },
  keepAliveWhile: async (o, ms) => {
    await o.keepAliveWhile(() => sleep(ms));
    return o._keepAliveRefs;
  },
  kaThenSet: async (o, gap) => {
    await o.keepAliveWhile(() => sleep(5));
    if (gap === "timer") await sleep(0);
    if (gap === "tick") await null;
    await o.ctx.storage.setAlarm(Date.now() + 300000);
    return "set";
  },
  setThenKaInside: async (o) => {
    await o.keepAliveWhile(async () => {
      await sleep(5);
      await o.ctx.storage.setAlarm(Date.now() + 300000);
    });
    return "set";
  },
  destroy: async (o) => {
    await o.destroy();
    return "returned";
  },
  scheduleDestroy: (o) => o._cf_scheduleDestroy(),
  initialise: (o) => o.__unsafe_ensureInitialized(),
  setName: (o, n) => o.setName(n),
  put: (o, [k, v]) => o.ctx.storage.put(k, v),
  abort: (o, r) => o.ctx.abort(r),
};
