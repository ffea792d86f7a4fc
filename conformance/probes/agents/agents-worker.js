// The probe worker for the agents package and partyserver; agents-driver.mjs bundles it.

import { getAgentByName } from "agents";
import unsafe from "workerd:unsafe";
import { Mcp } from "./classes.js";
import { P } from "./scenarios.js";
import { attempt, LOG } from "./shared.js";

export { Ag, Fast, Mcp } from "./classes.js";

const NS = (env, n) => env[n ?? "AG"];
export default {
  async fetch(req, env, ctx) {
    const u = new URL(req.url);
    if (u.pathname.startsWith("/mcp")) {
      ctx.props = { who: "probe" };
      return Mcp.serve("/mcp", { binding: "MCP" }).fetch(req, env, ctx);
    }
    switch (u.pathname) {
      case "/list":
        return Response.json(Object.entries(P).map(([id, [d]]) => [id, d]));
      case "/run":
        return Response.json(await attempt(() => P[u.searchParams.get("id")][1](env), 60000));
      case "/log":
        return Response.json(LOG.slice(Number(u.searchParams.get("from") ?? 0)));
      case "/abortall":
        await unsafe.abortAllDurableObjects();
        return Response.json("ok");
      case "/call": {
        const { ns, name, beh, arg, init } = await req.json();
        return Response.json(
          await attempt(async () => {
            const s = init ? await getAgentByName(NS(env, ns), name) : NS(env, ns).getByName(name);
            return s.call(beh, arg);
          }),
        );
      }
    }
    return new Response("?", { status: 404 });
  },
};
