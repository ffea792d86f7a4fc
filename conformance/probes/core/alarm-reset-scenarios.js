// Probes of alarms that end badly, and of how late and in which order they fire (A17 to A28).

import unsafe from "workerd:unsafe";
import { alarmsOf, fresh } from "./scenario-tools.js";
import { LOG, SHARED, sleep } from "./shared.js";

export const ALARM_RESETS = {
  A17: [
    "ctx.abort() inside alarm(): is the alarm retried, with which retryCount and delay",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20, "abortOnce"]);
      await sleep(3500);
      const a = alarmsOf(s);
      return {
        stable: {
          runs: a.length,
          retryCounts: a.map((r) => r.info.retryCount),
          newInstance: new Set(a.map((r) => r.instance)).size,
          names: a.map((r) => (r.name === null ? null : "name")),
          after: await env.PROBE.get(s.id).call("getAlarm"),
        },
        timing: { gapMs: a.length > 1 ? a[1].t - a[0].t : null },
      };
    },
  ],
  A18: [
    "blockConcurrencyWhile throws inside alarm()",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20, "bcwThrow"]);
      await sleep(3500);
      const a = alarmsOf(s);
      return {
        stable: {
          runs: a.length,
          retryCounts: a.map((r) => r.info.retryCount),
          newInstance: new Set(a.map((r) => r.instance)).size,
        },
        timing: { gapMs: a.length > 1 ? a[1].t - a[0].t : null },
      };
    },
  ],
  A19: [
    "a put in an alarm() that throws: kept",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20, "putThenThrow"]);
      await sleep(300);
      const v = await s.call("get", "from-alarm");
      await s.call("deleteAlarm");
      return { value: v };
    },
  ],
  A20: [
    "deleteAll() inside alarm()",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20, "deleteAllIn"]);
      await sleep(400);
      return {
        runs: alarmsOf(s).length,
        in: LOG.filter((e) => e.tag === "inAlarm")
          .slice(-1)
          .map(({ t, ...r }) => r),
        after: await s.call("getAlarm"),
      };
    },
  ],
  A21: ["setAlarm on a class without alarm()", (env) => env.NOALARM.getByName("n" + crypto.randomUUID()).call()],
  A22: [
    "setAlarm called in the constructor",
    async (env) => {
      const s = fresh(env);
      SHARED.box["ctorAlarm:" + s.id] = 1;
      await s.call("ping");
      await sleep(500);
      return { runs: alarmsOf(s).length };
    },
  ],
  A23: [
    "20 objects, alarms all due at the same instant: order and lateness",
    async (env) => {
      const at = Date.now() + 500;
      const stubs = Array.from({ length: 20 }, () => fresh(env));
      const order = [];
      await Promise.all(stubs.map((s) => s.call("setAlarmIn", [at - Date.now()])));
      await sleep(1200);
      const recs = stubs.map((s, i) => ({ i, t: alarmsOf(s)[0]?.t, n: alarmsOf(s).length }));
      recs
        .slice()
        .sort((a, b) => a.t - b.t)
        .forEach((r) => order.push(r.i));
      return { stable: { eachFiredOnce: recs.every((r) => r.n === 1) }, timing: { lateMs: recs.map((r) => r.t - at) } };
    },
  ],
  A24: [
    "lateness of 40 alarms set 40 ms ahead, one after the other (waits up to 4 s for each)",
    async (env) => {
      const late = [];
      for (let k = 0; k < 40; k++) {
        const s = fresh(env);
        const at = await s.call("setAlarmIn", [40]);
        for (let w = 0; w < 200 && !alarmsOf(s)[0]; w++) await sleep(20);
        late.push(alarmsOf(s)[0] ? alarmsOf(s)[0].t - at : null);
      }
      return {
        stable: { allFired: !late.includes(null), neverEarly: late.every((x) => x === null || x >= 0) },
        timing: { lateMs: late },
      };
    },
  ],
  A25: [
    "alarm name: object made by idFromName, newUniqueId, and hex id of a named object, in one process, before eviction",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20]);
      const u = env.PROBE.get(env.PROBE.newUniqueId());
      await u.call("setAlarmIn", [20]);
      const named = "hex-" + crypto.randomUUID();
      const hex = env.PROBE.get(env.PROBE.idFromString(env.PROBE.idFromName(named).toString()));
      await hex.call("setAlarmIn", [20]);
      await sleep(300);
      return {
        byName: alarmsOf(s)[0]?.name === s.name,
        unique: alarmsOf(u)[0]?.name ?? null,
        hexFirst: alarmsOf(hex)[0]?.name ?? null,
      };
    },
  ],
  A27: [
    "all objects aborted from outside 200 ms into a 600 ms alarm(): run again, when, retryCount, alarm left",
    async (env) => {
      const s = fresh(env);
      const at = await s.call("setAlarmIn", [20, "slow"]);
      await sleep(220);
      const f = LOG.length;
      await unsafe.abortAllDurableObjects();
      await sleep(4500);
      const a = alarmsOf(s);
      const left = await env.PROBE.get(s.id).call("getAlarm");
      return {
        stable: {
          starts: a.length,
          ends: LOG.slice(f).filter((e) => e.tag === "alarm-end" && e.key === s.id.toString()).length,
          retryCounts: a.map((r) => r.info.retryCount),
          names: a.map((r) => (r.name === null ? null : "name")),
          alarmLeft: left === at ? "original time" : left,
        },
        timing: { gapMs: a.length > 1 ? a[1].t - a[0].t : null },
      };
    },
  ],
  A28: [
    "two alarms in one object: the second set while the first runs, for a time before the first ends",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20, "slow"]);
      await sleep(150);
      const at = await s.call("setAlarmIn", [100]);
      await sleep(1500);
      const a = alarmsOf(s);
      await s.call("deleteAlarm");
      return {
        stable: {
          runs: a.length,
          overlap: a.length > 1 && a[1].t < a[0].t + 580,
          retryCounts: a.map((r) => r.info.retryCount),
        },
        timing: { secondLateMs: a.length > 1 ? a[1].t - at : null },
      };
    },
  ],
  A26: [
    "alarm() sets an alarm for its own scheduledTime while Date.now() is still that millisecond (tried up to 12 times to hit it)",
    async (env) => {
      let hit, miss;
      for (let k = 0; k < 12 && !(hit && miss); k++) {
        const s = fresh(env);
        const at = await s.call("setAlarmIn", [40, "sameTime"]);
        await sleep(700);
        const same = SHARED.box["same:" + s.id];
        const r = {
          runs: alarmsOf(s).length,
          getAlarmAfter:
            (await s.call("getAlarm")) === at ? "still set to the time that has run" : await s.call("getAlarm"),
        };
        await s.call("deleteAlarm");
        if (same) hit ??= r;
        else miss ??= r;
      }
      return { stable: { sameMillisecond: hit ?? "not hit" }, timing: { otherMillisecond: miss ?? "not hit" } };
    },
  ],
  A17b: [
    "ctx.abort() inside alarm(), watched for 12 s",
    async (env) => {
      const s = fresh(env);
      const at = await s.call("setAlarmIn", [20, "abortOnce"]);
      await sleep(3500);
      const n = env.PROBE.get(s.id);
      const mid = await n.call("getAlarm");
      await sleep(8500);
      const a = alarmsOf(s);
      return {
        runs: a.length,
        retryCounts: a.map((r) => r.info.retryCount),
        getAlarmInside: a.map((r) => r.getAlarm),
        mid: mid === at ? "original time" : mid,
        end: (await n.call("getAlarm")) === at ? "original time" : await n.call("getAlarm"),
        gaps: a.slice(1).map((r, i) => Math.round((r.t - a[i].t) / 1000)),
      };
    },
  ],
};
