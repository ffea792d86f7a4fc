// Probes of the Agent class that run in the front worker: alarms, schedules, keepAlive, names, destruction (AG).

import { getAgentByName } from "agents";
import { attempt, err, LOG, SHARED, sleep } from "./shared.js";

const uid = () => "p-" + crypto.randomUUID();
const norm = (x, name) => JSON.parse(JSON.stringify(x).replaceAll(name, "<name>"));
export const P = {
  AG1: [
    "fresh agent by getAgentByName: storage keys, tables, alarm, name",
    async (env) => {
      const n = uid();
      const s = await getAgentByName(env.AG, n);
      const x = await s.call("snap");
      return norm({ ...x, instance: undefined }, n);
    },
  ],
  AG1b: [
    "fresh agent, native RPC on a plain stub (no getAgentByName): is onStart run, is __ps_name written",
    async (env) => {
      const n = uid();
      const s = env.AG.getByName(n);
      const x = await s.call("snap");
      const st = await s.call("onStarts");
      return norm({ psName: x.psName, keys: x.keys, onStarts: st, name: x.name }, n);
    },
  ],
  AG2: [
    "own alarm +60 s, then schedule(120 s), then cancel",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      await s.call("setAlarm", 60000);
      const id = await s.call("schedule", [120, "tick"]);
      const a = await s.call("snap");
      const c = await s.call("cancel", id);
      const b = await s.call("snap");
      await s.call("setAlarm", 60000);
      const c2 = await s.call("cancel", "no-such-id");
      const d = await s.call("snap");
      return {
        afterSchedule: Math.round(a.alarmInSec),
        cancelled: c,
        afterCancel: b.alarmInSec,
        cancelMissing: c2,
        afterCancelMissing: d.alarmInSec,
      };
    },
  ],
  AG3: [
    "own alarm +300 s, then keepAliveWhile(150 ms): during, just after, 100 ms after",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      await s.call("setAlarm", 300000);
      const p = s.call("keepAliveWhile", 150);
      await sleep(50);
      const d = (await s.call("snap")).alarmInSec;
      await p;
      const just = (await s.call("snap")).alarmInSec;
      await sleep(100);
      return { during: Math.round(d), justAfter: just, later: (await s.call("snap")).alarmInSec };
    },
  ],
  AG17: [
    "who wins: keepAliveWhile ends, then the same handler sets its own alarm +300 s at once / after a microtask / after a 0 ms timer; or set inside keepAliveWhile",
    async (env) => {
      const out = {};
      for (const g of ["none", "tick", "timer"]) {
        const s = await getAgentByName(env.AG, uid());
        await s.call("kaThenSet", g);
        await sleep(80);
        const a = (await s.call("snap")).alarmInSec;
        out[g] = a === null ? null : Math.round(a / 10) * 10;
      }
      const s = await getAgentByName(env.AG, uid());
      await s.call("setThenKaInside");
      await sleep(80);
      const a = (await s.call("snap")).alarmInSec;
      out.inside = a === null ? null : Math.round(a / 10) * 10;
      return out;
    },
  ],
  AG4: [
    "two keepAlive refs with an own alarm set between",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      const r1 = await s.call("keepAlive");
      const a1 = (await s.call("snap")).alarmInSec;
      await s.call("setAlarm", 300000);
      const r2 = await s.call("keepAlive");
      const a2 = (await s.call("snap")).alarmInSec;
      const r3 = await s.call("dispose");
      await sleep(50);
      const a3 = (await s.call("snap")).alarmInSec;
      const r4 = await s.call("dispose");
      await sleep(50);
      const a4 = (await s.call("snap")).alarmInSec;
      return {
        refs: [r1, r2, r3, r4],
        alarm: [a1, a2, a3, a4].map((x) => (x === null ? null : Math.round(x / 10) * 10)),
      };
    },
  ],
  AG5: [
    "dispose called three times on one ref while another is held",
    async (env) => ({ refs: await (await getAgentByName(env.AG, uid())).call("doubleDispose") }),
  ],
  AG6: [
    "own alarm fires, base alarm(): alarm afterwards",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      await s.call("setAlarm", 100);
      await sleep(400);
      return {
        log: LOG.filter((e) => e.tag === "alarm")
          .slice(-1)
          .map(({ t, before, ...r }) => ({ alarmAfter: r.alarmAfter })),
        after: (await s.call("snap")).alarmInSec,
      };
    },
  ],
  AG7: [
    "alarm() override re-arms +60 s BEFORE super.alarm()",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      await s.call("put", ["alarm-pre", 60000]);
      await s.call("setAlarm", 100);
      await sleep(400);
      return { after: (await s.call("snap")).alarmInSec };
    },
  ],
  AG7b: [
    "alarm() override re-arms +60 s and does not call super",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      await s.call("put", ["alarm-pre", 60000]);
      await s.call("put", ["skip-super", 1]);
      await s.call("setAlarm", 100);
      await sleep(400);
      return { after: Math.round((await s.call("snap")).alarmInSec) };
    },
  ],
  AG8: [
    "own alarm +300 s and a 1 s schedule row: alarm after the row ran",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      await s.call("schedule", [1, "tick"]);
      await s.call("setAlarm", 300000);
      const x = (await s.call("snap")).alarmInSec;
      await sleep(2500);
      const y = await s.call("snap");
      return {
        ownAlarmHidesSchedule: Math.round(x),
        scheduleRowStillThere: y.schedules,
        ran: LOG.filter((e) => e.tag === "tick").length,
      };
    },
  ],
  AG9: [
    "name getter, not addressed by name: unique id, hex id of a name",
    async (env) => {
      const u = env.AG.get(env.AG.newUniqueId());
      const hx = env.AG.get(env.AG.idFromString(env.AG.idFromName(uid()).toString()));
      const a = await u.call("snap");
      const init = await attempt(() => hx.call("initialise"));
      const f = await attempt(async () => {
        const r = await hx.fetch("http://x/");
        return [r.status, (await r.text()).split("\n")[0]];
      });
      const set = await attempt(() => u.call("setName", "given"));
      const b = await u.call("snap");
      return {
        name: a.name,
        initOnHex: init,
        fetchOnHex: f,
        setName: set,
        afterSetName: { name: b.name, psName: b.psName },
      };
    },
  ],
  AG9b: [
    "setName with another name on an object addressed by name",
    async (env) => ({
      r: norm(
        await attempt(async () => {
          const s = env.AG.getByName("fixed-name");
          return s.call("setName", "other");
        }),
        "zz",
      ),
    }),
  ],
  AG10: [
    "onStart throws once: getAgentByName twice",
    async (env) => {
      const n = uid();
      SHARED["failStart:" + env.AG.idFromName(n)] = 1;
      const a = await attempt(() => getAgentByName(env.AG, n));
      const b = await attempt(async () => (await getAgentByName(env.AG, n)).call("onStarts"));
      return { first: a, onStartsInSecond: b };
    },
  ],
  AG11: [
    "five concurrent getAgentByName on a fresh agent with a 150 ms onStart",
    async (env) => {
      const n = uid();
      SHARED["slowStart:" + env.AG.idFromName(n)] = 1;
      const ss = await Promise.all(Array.from({ length: 5 }, () => getAgentByName(env.AG, n)));
      return { onStarts: await ss[0].call("onStarts") };
    },
  ],
  AG12: [
    "schedule callback that throws: how many calls, alarm retried, row, alarm",
    async (env) => {
      const s = await getAgentByName(env.AG, uid());
      const f = LOG.length;
      await s.call("schedule", [1, "boom"]);
      await sleep(6000);
      const x = await s.call("snap");
      return {
        stable: {
          calls: LOG.slice(f).filter((e) => e.tag === "boom").length,
          alarms: LOG.slice(f)
            .filter((e) => e.tag === "alarm")
            .map((e) => ({ superThrew: e.superThrew ?? null })),
          rows: x.schedules,
          alarm: x.alarmInSec,
        },
      };
    },
  ],
  AG13: [
    "destroy(): what the caller sees, keys, alarm, instance afterwards",
    async (env) => {
      const n = uid();
      const s = await getAgentByName(env.AG, n);
      const i = await s.call("ping");
      await s.call("setAlarm", 60000);
      const r = await attempt(() => s.call("destroy"));
      await sleep(150);
      const t = env.AG.getByName(n);
      const x = await attempt(() => t.call("snap"));
      return norm(
        {
          caller: r,
          after: x.ok ? { alarm: x.ok.alarmInSec, keys: x.ok.keys, newInstance: x.ok.instance !== i } : x,
          oldStub: await attempt(() => s.call("ping")).then((y) => (y.ok ? "works" : y)),
        },
        n,
      );
    },
  ],
  AG14: [
    "_cf_scheduleDestroy(): marker, alarm; 1.6 s later",
    async (env) => {
      const n = uid();
      const s = await getAgentByName(env.AG, n);
      const i = await s.call("ping");
      await s.call("put", ["user", 1]);
      await s.call("scheduleDestroy");
      const x = await s.call("snap");
      await sleep(1700);
      const y = await attempt(() => env.AG.getByName(n).call("snap"));
      return norm(
        {
          during: { keys: x.keys, alarmIn: x.alarmInSec > 0.5 && x.alarmInSec <= 1 ? "about 1 s" : x.alarmInSec },
          after: y.ok ? { keys: y.ok.keys, alarm: y.ok.alarmInSec, newInstance: y.ok.instance !== i } : y,
        },
        n,
      );
    },
  ],
  AG14b: [
    "_cf_scheduleDestroy(), then own setAlarm(+300 s) in the window: destroyed?",
    async (env) => {
      const n = uid();
      const s = await getAgentByName(env.AG, n);
      await s.call("scheduleDestroy");
      await s.call("setAlarm", 300000);
      await sleep(1800);
      const y = await s.call("snap");
      const k = await attempt(() => s.call("keepAlive"));
      const z = await s.call("snap").catch((e) => err(e));
      await sleep(500);
      const w = await attempt(() => env.AG.getByName(n).call("snap"));
      return norm(
        {
          after1_8s: { keys: y.keys, alarm: Math.round(y.alarmInSec) },
          thenKeepAlive: k,
          afterKeepAlive: z.error ? z : { alarmDue: z.alarmInSec !== null && z.alarmInSec <= 0.1 },
          end: w.ok ? { keys: w.ok.keys, alarm: w.ok.alarmInSec } : w,
        },
        n,
      );
    },
  ],
  AG15: [
    "keepAlive heartbeat every 1 s for 13 s of no requests: alarms, same instance; after dispose",
    async (env) => {
      const s = await getAgentByName(env.FAST, uid());
      const f = LOG.length;
      const i = await s.call("ping");
      await s.call("keepAlive");
      await sleep(13000);
      const n1 = LOG.slice(f).filter((e) => e.tag === "alarm").length;
      const j = await s.call("ping");
      await s.call("dispose");
      await sleep(2500);
      const n2 = LOG.slice(f).filter((e) => e.tag === "alarm").length;
      return {
        stable: {
          alarmsAtLeast11: n1 >= 11,
          sameInstance: i === j,
          alarmsAfterDispose: n2 - n1,
          alarm: (await s.call("snap")).alarmInSec,
        },
      };
    },
  ],
  AG16: [
    "abort while a keepAlive ref is held: refs and alarm of the next instance",
    async (env) => {
      const n = uid();
      const s = await getAgentByName(env.AG, n);
      await s.call("keepAlive");
      await attempt(() => s.call("abort", "x"));
      const t = await getAgentByName(env.AG, n);
      const x = await t.call("snap");
      return { refs: x.refs, alarmKept: x.alarmInSec > 20 };
    },
  ],
};
