// What the scenarios have in common: a fresh object, what its alarms saw, and the usual shapes of a probe.

import { attempt, LOG, SHARED, sleep } from "./shared.js";

export const trace = (from) => LOG.slice(from).map((e) => e.tag + (e.i !== undefined ? ":" + e.i : ""));
export const fresh = (env, ns = "PROBE") => env[ns].getByName("p-" + crypto.randomUUID());
export const alarmsOf = (stub) => SHARED.box["alarm:" + stub.id.toString()] ?? [];
export async function interleave(env, behA, argA, gap, call = "mark") {
  const s = fresh(env);
  await s.call("ping");
  const from = LOG.length;
  const a = s.call(behA, argA);
  await sleep(gap);
  const b = s.call(call, "B");
  await Promise.all([a, b]);
  return { order: trace(from) };
}
export async function survivors(env, beh) {
  const s = fresh(env);
  const r = await attempt(() => s.call(beh));
  const s2 = env.PROBE.get(s.id);
  const left = await attempt(() => s2.call("listAll"));
  const al = await attempt(() => s2.call("getAlarm"));
  await attempt(() => s2.call("deleteAlarm"));
  return { callerSaw: r, keysAfter: left, alarmAfter: al.ok === null ? null : "set" };
}
export async function cross(env, make, use, makeArg, useArg) {
  const A = fresh(env),
    B = fresh(env);
  const m = await attempt(() => A.call(make, makeArg));
  const u = await attempt(() => B.call(use, useArg), 6000);
  return { made: m, used: u };
}
