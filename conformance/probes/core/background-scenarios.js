// Probes of background work, and of what objects of one worker share (W, M).

import unsafe from "workerd:unsafe";
import { fresh } from "./scenario-tools.js";
import { attempt, dateAtModuleScope, SHARED, sleep } from "./shared.js";

export const BACKGROUND = {
  W1: [
    "background put 300 ms after the response, with and without ctx.waitUntil",
    async (env) => {
      const a = fresh(env),
        b = fresh(env);
      await a.call("bgPut", [300, true]);
      await b.call("bgPut", [300, false]);
      await sleep(600);
      return {
        withWaitUntil: (await a.call("get", "bg")) !== undefined,
        without: (await b.call("get", "bg")) !== undefined,
      };
    },
  ],
  W2: [
    "the same when the handler throws after starting it",
    async (env) => {
      const a = fresh(env),
        b = fresh(env);
      const ra = await attempt(() => a.call("bgPutThrow", [300, true]));
      await attempt(() => b.call("bgPutThrow", [300, false]));
      await sleep(600);
      return {
        caller: ra,
        withWaitUntil: (await a.call("get", "bg")) !== undefined,
        without: (await b.call("get", "bg")) !== undefined,
      };
    },
  ],
  W3: [
    "a promise given to waitUntil rejects: is the object reset",
    async (env) => {
      const s = fresh(env);
      const i = (await s.call("ping")).instance;
      await s.call("bgReject");
      await sleep(150);
      return { sameInstance: (await s.call("ping")).instance === i };
    },
  ],
  W4: [
    "background work when the object is aborted before it ends",
    async (env) => {
      const s = fresh(env);
      await s.call("bgPut", [300, true]);
      await attempt(() => s.call("abort", "x"));
      await sleep(600);
      return { ran: (await env.PROBE.get(s.id).call("get", "bg")) !== undefined };
    },
  ],
  M1: [
    "two objects of one class, and of two classes, in one worker: module globals, instance fields, after abort",
    async (env) => {
      const a = fresh(env),
        b = fresh(env),
        k = fresh(env, "KV");
      await a.call("makeSelf");
      const seenByB = (await b.call("usePlainMethod")).ok !== undefined;
      const seenByK = (await k.call("usePlainMethod")).ok !== undefined;
      const c1 = (await a.call("ping")).count;
      const c2 = (await b.call("ping")).count;
      SHARED.counter = 7;
      await attempt(() => a.call("abort", "x"));
      const afterAbort = SHARED.counter;
      await unsafe.abortAllDurableObjects();
      const afterAll = SHARED.counter;
      return {
        globalSharedSameClass: seenByB,
        globalSharedOtherClass: seenByK,
        instanceFieldsSeparate: c1 === 1 && c2 === 1,
        globalsSurviveAbort: afterAbort === 7,
        globalsSurviveAbortAll: afterAll === 7,
      };
    },
  ],
  M3: ["Date.now() at module scope", async () => ({ value: dateAtModuleScope === 0 ? 0 : "wall clock" })],
  M2: [
    "a synchronous loop in one object delays another object in the same worker",
    async (env) => {
      const a = fresh(env),
        b = fresh(env);
      await a.call("ping");
      await b.call("ping");
      const f = Date.now();
      const pa = a.call("spin", 4e8).then(() => Date.now() - f);
      const pb = b.call("ping").then(() => Date.now() - f);
      const [ta, tb] = await Promise.all([pa, pb]);
      return { stable: { otherObjectDelayed: tb >= ta * 0.8 }, timing: { spinMs: ta, otherMs: tb } };
    },
  ],
};
