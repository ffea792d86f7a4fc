// Probes that wait for minutes; the driver starts all of them at once.

import { alarmsOf, fresh } from "./scenario-tools.js";
import { attempt, sleep } from "./shared.js";

export const LONG = {
  AL1: [
    "alarm() that always throws: the whole retry schedule",
    async (env) => {
      const s = fresh(env);
      const at = await s.call("setAlarmIn", [50, "throwAlways"]);
      await sleep(200_000);
      const a = alarmsOf(s);
      const after = await s.call("getAlarm");
      return {
        stable: {
          runs: a.length,
          retryCounts: a.map((r) => r.info.retryCount),
          isRetry: a.map((r) => r.info.isRetry),
          getAlarmInside: [...new Set(a.map((r) => r.getAlarm))],
          alarmAfterGivingUp: after === at ? "still the original time" : after,
          instances: new Set(a.map((r) => r.instance)).size,
        },
        timing: { gapsMs: a.slice(1).map((r, i) => r.t - a[i].t) },
      };
    },
  ],
  GL1: [
    "blockConcurrencyWhile that waits on itself (deadlock)",
    async (env) => {
      const s = fresh(env);
      const f = Date.now();
      const r = await attempt(() => s.call("bcwDeadlock"), 40_000);
      return { stable: { r }, timing: { ms: Date.now() - f } };
    },
  ],
  GL2: [
    "blockConcurrencyWhile running 35 s",
    async (env) => {
      const s = fresh(env);
      const i = (await s.call("ping")).instance;
      const f = Date.now();
      const w = attempt(async () => {
        await sleep(500);
        return s.call("ping");
      }, 45_000);
      const r = await attempt(() => s.call("bcwTimer", 35_000), 45_000);
      const ms = Date.now() - f;
      const b = await w;
      const n = await attempt(() => env.PROBE.get(s.id).call("ping"));
      return {
        stable: { r, waiting: b, newStubNext: n.ok ? (n.ok.instance !== i ? "new instance" : "old") : n },
        timing: { ms },
      };
    },
  ],
};
