// What every module of the probe worker shares: the log of what happened, a box for all objects, and how a failure is told.

// Module scope is shared by every object of every class in this worker: that is probe M1.
export const LOG = [];
export const SHARED = { counter: 0, box: {} };
export const log = (tag, extra) => {
  LOG.push({ t: Date.now(), tag, ...extra });
};
export const dateAtModuleScope = Date.now();
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
export const FLAG_NAMES = ["remote", "retryable", "overloaded", "durableObjectReset"];

export function describeError(e) {
  if (e === null || typeof e !== "object") return { thrown: typeof e, value: String(e) };
  const flags = {};
  for (const k of FLAG_NAMES) if (k in e) flags[k] = e[k];
  if ("durableObjectId" in e) flags.durableObjectId = "present";
  const own = Object.keys(e).filter((k) => !FLAG_NAMES.includes(k) && k !== "durableObjectId");
  return {
    name: e.name,
    message: String(e.message).replace(/reference = \S+/, "reference = <id>"),
    ctor: e.constructor && e.constructor.name,
    isError: e instanceof Error,
    flags,
    ownKeys: own,
  };
}
export async function attempt(fn, ms = 4000) {
  const timeout = Symbol();
  let timer;
  try {
    const v = await Promise.race([
      (async () => {
        const r = await fn();
        return { ok: r === undefined ? "undefined" : r };
      })(),
      new Promise((r) => {
        timer = setTimeout(() => r(timeout), ms);
      }),
    ]);
    return v === timeout ? { hung: `no settlement within ${ms} ms` } : v;
  } catch (e) {
    return { error: describeError(e) };
  } finally {
    clearTimeout(timer);
  }
}
export function syncAttempt(fn) {
  try {
    return { ok: fn() };
  } catch (e) {
    return { error: describeError(e) };
  }
}
