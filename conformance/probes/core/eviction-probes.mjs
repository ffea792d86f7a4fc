// Probes of idle objects: which are evicted, and what wakes them (EV).

import { sleep } from "../../lib/sleep.mjs";

export const EVICTION = {
  EV1: [
    "idle object: same instance at 9 s, evicted at 11.5 s; storage, name",
    async ({ start }) => {
      const w = await start();
      const i = async (n) => (await w.call(n, "ping")).ok.instance;
      const a1 = await i("a"),
        b1 = await i("b");
      await w.call("a", "put", ["x", 1]);
      await sleep(9000);
      const b2 = await i("b");
      await sleep(2500);
      const a2 = await i("a");
      const r = {
        at9s: b1 === b2 ? "same" : "new",
        at11_5s: a1 === a2 ? "same" : "new",
        storage: (await w.call("a", "get", "x")).ok,
        name: (await w.call("a", "name")).ok.name,
      };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  EV2: [
    "idle with a pending 14 s setTimeout / a pending 14 s waitUntil: do they run, is the instance kept",
    async ({ start }) => {
      const w = await start();
      const t1 = (await w.call("t", "longTimer", 14000)).ok,
        u1 = (await w.call("u", "longWaitUntil", 14000)).ok;
      await sleep(16000);
      const log = await w.json("/log");
      const t2 = (await w.call("t", "ping")).ok.instance,
        u2 = (await w.call("u", "ping")).ok.instance;
      const r = {
        timerFired: log.some((e) => e.tag === "long-timer-fired"),
        waitUntilDone: log.some((e) => e.tag === "long-waitUntil-done"),
        timerInstance: t1 === t2 ? "same" : "new",
        waitUntilInstance: u1 === u2 ? "same" : "new",
      };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  EV3: [
    "a request in progress for 14 s keeps the instance",
    async ({ start }) => {
      const w = await start();
      const i1 = (await w.call("a", "ping")).ok.instance;
      const r0 = await w.call("a", "waitTimer", 14000);
      const i2 = (await w.call("a", "ping")).ok.instance;
      await w.stop();
      w.clean();
      return { ok: { request: r0, instance: i1 === i2 ? "same" : "new" } };
    },
  ],
  EV4: [
    "alarm set 13 s ahead, object idle: woken by the alarm, name by kind of id",
    async ({ start }) => {
      const w = await start();
      await w.call("n", "setAlarmIn", [13000]);
      const uq = await w.json("/unique");
      await w.callHex(uq, "setAlarmIn", [13000]);
      const hx = await w.json("/idof?name=hexed");
      await w.callHex(hx, "setAlarmIn", [13000]);
      await sleep(14500);
      const get = async (id) =>
        (await w.json("/alarms?id=" + id)).map((r) => ({
          name: r.name,
          instanceIsFirst: r.instance <= 3,
          retryCount: r.info.retryCount,
        }));
      const nid = await w.json("/idof?name=n");
      const r = {
        byName: await get(nid),
        unique: await get(uq),
        hexOfNamed: await get(hx),
        afterAlarmByName: (await w.call("n", "name")).ok,
      };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  EV5: [
    "alarm set 150 s ahead by name, object idle all the time (its container is dropped after 70 s): name in alarm()",
    async ({ start }) => {
      const w = await start();
      await w.call("n", "setAlarmIn", [150000]);
      await sleep(153000);
      const a = (await w.json("/alarms?id=" + (await w.json("/idof?name=n")))).map((r) => ({
        name: r.name,
        retryCount: r.info.retryCount,
      }));
      await w.stop();
      w.clean();
      return { ok: { alarms: a } };
    },
  ],
};
