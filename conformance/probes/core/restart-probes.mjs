// Probes of a server process that ends, by SIGTERM or SIGKILL, and starts again (RS).

import { sleep } from "../../lib/sleep.mjs";

export const RESTARTS = {
  RS1: [
    "SIGTERM restart: alarm due 4 s ahead and alarm due during the downtime; names; retryCount",
    async ({ start }) => {
      let w = await start();
      await w.call("n", "setAlarmIn", [1500]);
      await w.call("later", "setAlarmIn", [5000]);
      const uq = await w.json("/unique");
      await w.callHex(uq, "setAlarmIn", [1500]);
      const dir = w.dir;
      const code = await w.stop();
      await sleep(2500);
      w = await start({ dir });
      const t = Date.now();
      await sleep(4500);
      const g = async (id) =>
        (await w.json("/alarms?id=" + id)).map((r) => ({
          name: r.name,
          retryCount: r.info.retryCount,
          isRetry: r.info.isRetry,
          when: r.t - r.info.scheduledTime > 500 ? "late (overdue at start)" : "on time",
          firedAfterStartMs: r.t - t < 500 ? "<500" : r.t - t,
        }));
      const r = {
        exit: code,
        overdue: await g(await w.json("/idof?name=n")),
        overdueUnique: await g(uq),
        later: (await g(await w.json("/idof?name=later"))).map(({ firedAfterStartMs, ...x }) => x),
      };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  RS7: [
    "after a restart an overdue alarm wakes the object first; then it is called by name: ctx.id.name",
    async ({ start }) => {
      let w = await start();
      await w.call("n", "setAlarmIn", [800]);
      const dir = w.dir;
      await w.stop("SIGKILL");
      await sleep(900);
      w = await start({ dir });
      await sleep(600);
      const a = (await w.json("/alarms?id=" + (await w.json("/idof?name=n")))).map((x) => x.name);
      const byName = (await w.call("n", "name")).ok;
      await w.stop();
      w.clean();
      return { ok: { alarmSaw: a, thenByName: byName.name } };
    },
  ],
  RS2: [
    "SIGKILL right after the responses of 20 puts and 20 setAlarms",
    async ({ start }) => {
      let w = await start();
      for (let i = 0; i < 20; i++) await w.call("k" + i, "put", ["v", i]);
      for (let i = 0; i < 20; i++) await w.call("k" + i, "setAlarmIn", [3600000]);
      const dir = w.dir;
      await w.stop("SIGKILL");
      w = await start({ dir });
      let ok = 0,
        al = 0;
      for (let i = 0; i < 20; i++) {
        if ((await w.call("k" + i, "get", "v")).ok === i) ok++;
        if (typeof (await w.call("k" + i, "getAlarm")).ok === "number") al++;
      }
      await w.stop();
      w.clean();
      return { ok: { putsKept: ok, alarmsKept: al } };
    },
  ],
  RS3: [
    "SIGKILL in the middle of alarm(): does it run again, retryCount",
    async ({ start }) => {
      let w = await start();
      await w.call("n", "setAlarmIn", [50, "slow"]);
      await sleep(350);
      const n0 = (await w.json("/alarms?id=" + (await w.json("/idof?name=n")))).length;
      const dir = w.dir;
      await w.stop("SIGKILL");
      w = await start({ dir });
      await sleep(1500);
      const a = await w.json("/alarms?id=" + (await w.json("/idof?name=n")));
      const r = {
        startedBeforeKill: n0,
        afterRestart: a.map((x) => ({ retryCount: x.info.retryCount, isRetry: x.info.isRetry, name: x.name })),
        getAlarm: (await w.call("n", "getAlarm")).ok,
      };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  RS4: [
    "SIGKILL while an alarm waits for its third try: retryCount and delay after the restart",
    async ({ start }) => {
      let w = await start();
      await w.call("n", "setAlarmIn", [50, "throwAlways"]);
      await sleep(3500);
      const n0 = (await w.json("/alarms?id=" + (await w.json("/idof?name=n")))).map((x) => x.info.retryCount);
      const dir = w.dir;
      await w.stop("SIGKILL");
      w = await start({ dir });
      const t = Date.now();
      await sleep(1000);
      const a = await w.json("/alarms?id=" + (await w.json("/idof?name=n")));
      const r = { before: n0, after: a.map((x) => [x.info.retryCount, x.t - t < 900 ? "at once" : x.t - t]) };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  RS6: [
    "SIGTERM while a client holds a silent SSE stream",
    async ({ start, sse }) => {
      const w = await start();
      const c = sse(w, "/do/s/sse");
      await sleep(300);
      const code = await w.stop("SIGTERM", 6000);
      await sleep(100);
      const r = { exit: code, client: { ended: c.ended, error: c.error } };
      w.clean();
      return { ok: r };
    },
  ],
  RS5: [
    "SIGTERM with a request in progress (object awaits a 2 s timer)",
    async ({ start }) => {
      const w = await start();
      const p = w.call("n", "waitTimer", 2000).then(
        (r) => ({ answer: r }),
        (e) => ({ client: String(e.cause?.code ?? e.cause ?? e) }),
      );
      await sleep(300);
      const t = Date.now();
      const code = await w.stop("SIGTERM", 8000);
      const r = { request: await p, exit: code, exitedAfter: Date.now() - t > 1000 ? "drained" : "at once" };
      w.clean();
      return { ok: r };
    },
  ],
};
