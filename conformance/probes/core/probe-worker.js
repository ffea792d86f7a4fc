// The probe worker: scenarios that run in the stateless front worker and drive the objects. Loopback only; the driver's own ports
// come in as bindings.

import unsafe from "workerd:unsafe";
import { ALARM_RESETS } from "./alarm-reset-scenarios.js";
import { ALARMS } from "./alarm-scenarios.js";
import { BACKGROUND } from "./background-scenarios.js";
import { CONTEXTS } from "./context-scenarios.js";
import { ERRORS } from "./error-scenarios.js";
import { GATES } from "./gate-scenarios.js";
import { LONG } from "./long-scenarios.js";
import { attempt, LOG, SHARED } from "./shared.js";
import { STORAGE } from "./storage-scenarios.js";

export { NoAlarm, Probe, ProbeKv } from "./objects.js";

const P = { ...STORAGE, ...ALARMS, ...ALARM_RESETS, ...GATES, ...ERRORS, ...CONTEXTS, ...BACKGROUND };

export default {
  async fetch(req, env) {
    const url = new URL(req.url);
    switch (url.pathname) {
      case "/iomake":
        SHARED.box.workerRes = await fetch(`http://127.0.0.1:${env.EXT}/big`);
        return Response.json("stored");
      case "/iouse":
        return Response.json(await attempt(() => SHARED.box.workerRes.text()));
      case "/list":
        return Response.json({
          short: Object.entries(P).map(([id, [d]]) => [id, d]),
          long: Object.entries(LONG).map(([id, [d]]) => [id, d]),
        });
      case "/run": {
        const e = P[url.searchParams.get("id")] ?? LONG[url.searchParams.get("id")];
        return Response.json((await attempt(() => e[1](env), 260_000)) ?? null);
      }
      case "/log":
        return Response.json(LOG.slice(Number(url.searchParams.get("from") ?? 0)));
      case "/alarms": {
        const id = url.searchParams.get("id");
        return Response.json(SHARED.box["alarm:" + id] ?? []);
      }
      case "/idof":
        return Response.json(env.PROBE.idFromName(url.searchParams.get("name")).toString());
      case "/unique":
        return Response.json(env.PROBE.newUniqueId().toString());
      case "/abortall":
        await unsafe.abortAllDurableObjects();
        return Response.json("ok");
      case "/call": {
        const { name, hex, beh, arg } = await req.json();
        const stub = hex ? env.PROBE.get(env.PROBE.idFromString(hex)) : env.PROBE.getByName(name);
        return Response.json((await attempt(() => stub.call(beh, arg), 30000)) ?? null);
      }
      default:
        if (url.pathname.startsWith("/do/")) {
          const [, , name, ...rest] = url.pathname.split("/");
          return env.PROBE.getByName(name).fetch(new Request("http://do/" + rest.join("/") + url.search, req));
        }
    }
    return new Response("?", { status: 404 });
  },
};
