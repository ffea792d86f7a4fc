// Probes of alarms: setting, overwriting, deleting, retries, and requests meanwhile (A1 to A16).

import { alarmsOf, fresh, trace } from "./scenario-tools.js";
import { LOG, sleep } from "./shared.js";

export const ALARMS = {
  A1: [
    "setAlarm/getAlarm/deleteAlarm API results, overwrite, past times, bad arguments",
    (env) => fresh(env).call("selfTest", "alarmApi"),
  ],
  A2: [
    "overwrite: setAlarm(+2000) then setAlarm(+200): how many fire",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [2000]);
      await s.call("setAlarmIn", [200]);
      await sleep(2600);
      return {
        fired: alarmsOf(s).length,
        retry: alarmsOf(s)
          .map((r) => r.info)
          .map((i) => ({ retryCount: i.retryCount, isRetry: i.isRetry })),
      };
    },
  ],
  A3: [
    "alarm in the past while the setting handler still awaits a timer",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const from = LOG.length;
      await s.call("setAlarmIn", [-5000]);
      const w = s.call("waitTimer", 300);
      await w;
      await sleep(100);
      return { order: trace(from) };
    },
  ],
  A4: [
    "getAlarm() and setAlarm() inside alarm()",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [50, "setSelf"]);
      await sleep(1300);
      const a = alarmsOf(s);
      return {
        runs: a.length,
        getAlarmAtStart: a.map((r) => r.getAlarm),
        inAlarm: LOG.filter((e) => e.tag === "inAlarm")
          .slice(-a.length)
          .map(({ t, ...r }) => r),
        finalAlarm: await s.call("getAlarm"),
      };
    },
  ],
  A5: [
    "deleteAlarm() inside alarm(), handler succeeds",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [50, "deleteSelf"]);
      await sleep(500);
      return { runs: alarmsOf(s).length, after: await s.call("getAlarm") };
    },
  ],
  A6: [
    "deleteAlarm() inside alarm(), then throw: is it retried",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [50, "deleteThenThrow"]);
      await sleep(4500);
      return { runs: alarmsOf(s).length, after: await s.call("getAlarm") };
    },
  ],
  A7: [
    "setAlarm(+400) inside alarm(), then throw (first two runs)",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [50, "throwAfterSet"]);
      await sleep(4500);
      const a = alarmsOf(s);
      return {
        runs: a.length,
        retryCounts: a.map((r) => r.info.retryCount),
        isRetry: a.map((r) => r.info.isRetry),
        sameScheduledTime: new Set(a.map((r) => r.info.scheduledTime)).size,
        gapsMs: a.slice(1).map((r, i) => Math.round((r.t - a[i].t) / 100) * 100),
      };
    },
  ],
  A8: [
    "alarm() throws once: delay to the retry, retryCount, getAlarm() while waiting for it",
    async (env) => {
      const s = fresh(env);
      const at = await s.call("setAlarmIn", [50, "throwOnce"]);
      await sleep(700);
      const waiting = await s.call("getAlarm");
      await sleep(2600);
      const a = alarmsOf(s);
      return {
        stable: {
          runs: a.length,
          getAlarmWhileWaiting: waiting === at ? "the original (past) time" : waiting,
          retry: a.map((r) => [r.info.retryCount, r.info.isRetry, r.info.scheduledTime === at]),
          sameInstance: new Set(a.map((r) => r.instance)).size === 1,
          after: await s.call("getAlarm"),
        },
        timing: { gapMs: a.length > 1 ? a[1].t - a[0].t : null, firstLateMs: a[0].t - at },
      };
    },
  ],
  A9: [
    "during a retry wait: setAlarm(+100) from a request",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [50, "throwOnce"]);
      await sleep(400);
      await s.call("setAlarmIn", [100]);
      await sleep(2800);
      const a = alarmsOf(s);
      return {
        runs: a.length,
        retryCounts: a.map((r) => r.info.retryCount),
        gapsSec: a.slice(1).map((r, i) => Math.floor((r.t - a[i].t) / 1000)),
      };
    },
  ],
  A10: [
    "during a retry wait: deleteAlarm() from a request",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [50, "throwOnce"]);
      await sleep(400);
      await s.call("deleteAlarm");
      await sleep(3000);
      return { runs: alarmsOf(s).length, after: await s.call("getAlarm") };
    },
  ],
  A11: [
    "alarm due while a request awaits a timer / a fetch",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      let from = LOG.length;
      await s.call("setAlarmIn", [100]);
      await s.call("waitTimer", 400);
      const t = trace(from);
      const u = fresh(env);
      await u.call("ping");
      from = LOG.length;
      await u.call("setAlarmIn", [100]);
      await u.call("waitFetch", 400);
      return { timer: t, fetch: trace(from) };
    },
  ],
  A12: [
    "alarm due during blockConcurrencyWhile",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const from = LOG.length;
      await s.call("setAlarmIn", [100]);
      await s.call("bcwTimer", 400);
      await sleep(100);
      return { order: trace(from) };
    },
  ],
  A13: [
    "alarm() takes 600 ms: are requests delivered meanwhile",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const from = LOG.length;
      await s.call("setAlarmIn", [20, "slow"]);
      await sleep(200);
      const g = await s.call("getAlarm");
      await s.call("mark");
      await sleep(700);
      return { order: trace(from), getAlarmFromRequestDuringAlarm: g };
    },
  ],
  A14: [
    "alarm() running 400 ms sets an alarm for now: do two alarm() overlap",
    async (env) => {
      const s = fresh(env);
      await s.call("ping");
      const from = LOG.length;
      await s.call("setAlarmIn", [20, "slowSetNow"]);
      await sleep(1400);
      return { order: trace(from), retryCounts: alarmsOf(s).map((r) => r.info.retryCount) };
    },
  ],
  A15: [
    "request sets an alarm while alarm() runs; alarm() then succeeds",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20, "slow"]);
      await sleep(200);
      const at = await s.call("setAlarmIn", [60000]);
      await sleep(800);
      const after = await s.call("getAlarm");
      await s.call("deleteAlarm");
      return { runs: alarmsOf(s).length, newAlarmKept: after === at };
    },
  ],
  A16: [
    "request calls deleteAlarm while alarm() runs",
    async (env) => {
      const s = fresh(env);
      await s.call("setAlarmIn", [20, "slow"]);
      await sleep(200);
      await s.call("deleteAlarm");
      await sleep(800);
      return {
        runs: alarmsOf(s).length,
        ended: LOG.filter((e) => e.tag === "alarm-end" && e.key === s.id.toString()).length,
        after: await s.call("getAlarm"),
      };
    },
  ],
};
