// What the modules of the agents worker share: the log of what happened, switches for all agents, and how a failure is told.

export const LOG = [];
export const SHARED = {};
export const log = (tag, extra) => LOG.push({ t: Date.now(), tag, ...extra });
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
export const err = (e) => ({
  error: {
    name: e?.name,
    message: String(e?.message ?? e),
    flags: Object.fromEntries(
      ["remote", "retryable", "overloaded", "durableObjectReset"]
        .filter((k) => e && typeof e === "object" && k in e)
        .map((k) => [k, e[k]]),
    ),
  },
});
export async function attempt(f, ms = 8000) {
  let t;
  try {
    return await Promise.race([
      (async () => {
        const r = await f();
        return { ok: r === undefined ? "undefined" : r };
      })(),
      new Promise((r) => {
        t = setTimeout(() => r({ hung: ms }), ms);
      }),
    ]);
  } catch (e) {
    return err(e);
  } finally {
    clearTimeout(t);
  }
}
export const rel = (a) => (a === null ? null : Math.round((a - Date.now()) / 100) / 10);
