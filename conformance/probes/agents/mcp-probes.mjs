// Probes of McpAgent over HTTP: streams, tool calls, what they leave in storage; and of agents that are evicted (MC, EV).

import { sleep } from "../../lib/sleep.mjs";

const tidy = (x, sid) =>
  JSON.parse(
    JSON.stringify(x ?? null)
      .replaceAll(sid, "<sid>")
      .replace(/from \d+/g, "from N")
      .replace(/done \d+/g, "done N")
      .replace(/__mcp_stream_reqs__:[A-Za-z0-9_-]{10,}/g, "__mcp_stream_reqs__:<streamId>")
      .replace(/__mcp_undelivered_stream__:[A-Za-z0-9_-]{10,}/g, "__mcp_undelivered_stream__:<streamId>")
      .replace(/__mcp_event__:(?!_GET)[A-Za-z0-9_-]{10,}:/g, "__mcp_event__:<streamId>:")
      .replace(/id: (?!_GET)[A-Za-z0-9_-]{10,}:/g, "id: <streamId>:"),
  );
export const M = {
  MC1: [
    "initialize, initialized, one tool call: statuses, session id, name, storage keys, alarm, sockets",
    async (w) => {
      const { sid, init, note } = await w.open();
      const a = await w.snap(sid);
      const t = w.tool(sid, 1, "echo", { text: "hi" });
      await t.done;
      await sleep(100);
      const b = await w.snap(sid);
      return tidy(
        {
          initStatus: init.status,
          sidIs64Hex: /^[0-9a-f]{64}$/.test(sid),
          note: note.status,
          name: a.name,
          idName: a.idName,
          keysAfterInit: a.keys,
          alarmAfterInit: a.alarmInSec,
          wsAfterInit: a.webSockets,
          tool: [t.status, t.ended, t.chunks.join("")],
          keysAfterTool: b.keys,
          alarmAfterTool: b.alarmInSec,
          wsAfterTool: b.webSockets,
        },
        sid,
      );
    },
  ],
  MC2: [
    "during a 1.5 s tool call: keys, alarm, refs, sockets",
    async (w) => {
      const { sid } = await w.open();
      const t = w.tool(sid, 2, "slow", { ms: 1500 });
      await sleep(500);
      const a = await w.snap(sid);
      await t.done;
      await sleep(100);
      const b = await w.snap(sid);
      return tidy(
        {
          during: { keys: a.keys, alarm: a.alarmInSec, refs: a.refs, ws: a.webSockets },
          after: { keys: b.keys, alarm: b.alarmInSec, ws: b.webSockets },
          ended: t.ended,
        },
        sid,
      );
    },
  ],
  MC3: [
    "standalone GET stream: sockets seen by the object; server notification reaches it; keys",
    async (w) => {
      const { sid } = await w.open();
      const g = w.mcp("GET", null, sid);
      await g.head;
      await sleep(150);
      const a = await w.snap(sid);
      const t = w.tool(sid, 3, "notify", {});
      await t.done;
      await sleep(150);
      const b = await w.snap(sid);
      const r = tidy(
        { status: g.status, ws: a.webSockets, getChunks: g.chunks.join("").slice(0, 200), keys: b.keys },
        sid,
      );
      g.destroy();
      await sleep(300);
      r.wsAfterClientLeft = (await w.snap(sid)).webSockets;
      return r;
    },
  ],
  MC4: [
    "GET stream held, 12 s idle: new instance? init again? stream open? next tool call; notification after",
    async (w) => {
      const { sid } = await w.open();
      const g = w.mcp("GET", null, sid);
      await g.head;
      await sleep(150);
      const i1 = (await w.snap(sid)).instance;
      await sleep(12500);
      const t = w.tool(sid, 4, "echo", { text: "after" });
      await t.done;
      const s = await w.snap(sid);
      const t2 = w.tool(sid, 5, "notify", {});
      await t2.done;
      await sleep(200);
      const log = (await w.json("/log")).filter((e) => e.tag === "init" || e.tag === "ctor").length;
      const r = tidy(
        {
          newInstance: s.instance !== i1,
          inits: log,
          tool: [t.status, t.chunks.join("").includes("after from")],
          getStream: { ended: g.ended, gotNotification: g.chunks.join("").includes("hello from") },
          ws: s.webSockets,
        },
        sid,
      );
      g.destroy();
      return r;
    },
  ],
  MC5: [
    "tool call of 14 s, client waiting on its POST, nothing else: result, instance",
    async (w) => {
      const { sid } = await w.open();
      const i1 = (await w.snap(sid)).instance;
      const t = w.tool(sid, 6, "slow", { ms: 14000 });
      await Promise.race([t.done, sleep(17000)]);
      const s = await w.snap(sid);
      const log = (await w.json("/log")).filter((e) => e.tag.startsWith("slow")).map((e) => e.tag);
      const r = tidy(
        {
          ended: t.ended,
          error: t.error,
          gotResult: t.chunks.join("").includes("slow done"),
          toolLog: log,
          newInstance: s.instance !== i1,
          keys: s.keys,
        },
        sid,
      );
      t.destroy();
      return r;
    },
  ],
  MC5b: [
    "the same with keepAliveWhile (30 s heartbeat)",
    async (w) => {
      const { sid } = await w.open();
      const i1 = (await w.snap(sid)).instance;
      const t = w.tool(sid, 7, "slowKeep", { ms: 14000 });
      await Promise.race([t.done, sleep(17000)]);
      const s = await w.snap(sid);
      const r = tidy(
        {
          ended: t.ended,
          gotResult: t.chunks.join("").includes("kept done"),
          newInstance: s.instance !== i1,
          keys: s.keys,
          alarm: s.alarmInSec,
        },
        sid,
      );
      t.destroy();
      return r;
    },
  ],
  MC6: [
    "object aborted during a tool call: POST stream, GET stream, keys left",
    async (w) => {
      const { sid } = await w.open();
      const g = w.mcp("GET", null, sid);
      await g.head;
      const t = w.tool(sid, 8, "slow", { ms: 3000 });
      await sleep(500);
      const ab = await w.call("MCP", "streamable-http:" + sid, "abort", "killed");
      await Promise.race([t.done, sleep(2500)]);
      await sleep(300);
      const s = await w.snap(sid);
      const again = w.tool(sid, 9, "echo", { text: "again" });
      await again.done;
      const r = tidy(
        {
          aborter: ab,
          post: { status: t.status, ended: t.ended, error: t.error, body: t.chunks.join("") },
          get: { ended: g.ended, error: g.error },
          keysLeft: s.keys,
          ws: s.webSockets,
          nextCall: [again.status, again.chunks.join("").includes("again from")],
        },
        sid,
      );
      g.destroy();
      t.destroy();
      return r;
    },
  ],
  MC7: [
    "DELETE, then POST at once, POST after 1.8 s, GET after 1.8 s",
    async (w) => {
      const { sid } = await w.open();
      const d = w.mcp("DELETE", null, sid);
      await d.done;
      const s = await w.snap(sid);
      const p = w.tool(sid, 10, "echo", { text: "zombie" });
      await p.done;
      await sleep(1800);
      const q = w.tool(sid, 11, "echo", { text: "late" });
      await q.done;
      const g = w.mcp("GET", null, sid);
      await g.done;
      const after = await w.snap(sid);
      return tidy(
        {
          delete: d.status,
          during: { keys: s.keys, alarm: s.alarmInSec > 0 && s.alarmInSec <= 1 },
          postAtOnce: [p.status, p.chunks.join("").includes("zombie from")],
          postLater: [q.status, q.chunks.join("")],
          getLater: [g.status, g.chunks.join("")],
          keysAfterTheLateCalls: after.keys,
        },
        sid,
      );
    },
  ],
  MC8: [
    "POST and GET with a session id never seen: answer, was init run, keys left",
    async (w) => {
      const f = (await w.json("/log")).length;
      const sid = "f".repeat(64);
      const p = w.tool(sid, 1, "echo", { text: "x" });
      await p.done;
      const s = await w.snap(sid);
      const log = (await w.json("/log?from=" + f)).map((e) => e.tag);
      return tidy({ post: [p.status, p.chunks.join("")], initRan: log.includes("init"), keys: s.keys }, sid);
    },
  ],
  MC9: [
    "process restart, then a tool call on the old session; props",
    async (w) => {
      const { sid } = await w.open();
      await w.stop("SIGKILL");
      await w.start();
      const t = w.tool(sid, 12, "echo", { text: "restored" });
      await t.done;
      const log = (await w.json("/log")).map(({ t, ...e }) => e);
      return tidy({ tool: [t.status, t.chunks.join("").includes("restored from")], log }, sid);
    },
  ],
  MC10: [
    "client leaves its POST during a 1.5 s tool call; then GET with Last-Event-ID of that stream / plain GET",
    async (w) => {
      const { sid } = await w.open();
      const t = w.tool(sid, 13, "slow", { ms: 1500 });
      await t.head;
      await sleep(400);
      t.destroy();
      await sleep(2000);
      const s = await w.snap(sid);
      const g = w.mcp("GET", null, sid);
      await g.head;
      await sleep(400);
      const r = tidy({ keysAfterToolEnded: s.keys, ws: s.webSockets, plainGet: g.chunks.join("") }, sid);
      g.destroy();
      return r;
    },
  ],
  MC11: [
    "two GET streams one after the other on one session",
    async (w) => {
      const { sid } = await w.open();
      const g = w.mcp("GET", null, sid);
      await g.head;
      await sleep(150);
      const h = w.mcp("GET", null, sid);
      await h.head;
      await sleep(500);
      const s = await w.snap(sid);
      const r = { first: [g.status, g.ended, g.error], second: [h.status, h.ended], ws: s.webSockets };
      g.destroy();
      h.destroy();
      return r;
    },
  ],
  EV: [
    "own alarm 12 s ahead, agent idle and evicted: name before/after super.alarm(), __ps_name, onStart",
    async (w) => {
      await w.call("AG", "ev", "setAlarm", 12000, true);
      await sleep(13500);
      const a = (await w.json("/log")).filter((e) => e.tag === "alarm").map(({ t, tag, ...r }) => r);
      return { a };
    },
  ],
  EV2: [
    "the same, the object never initialised (plain RPC stub only, no __ps_name)",
    async (w) => {
      await w.call("AG", "ev2", "setAlarm", 12000, false);
      await sleep(13500);
      const a = (await w.json("/log")).filter((e) => e.tag === "alarm").map(({ t, tag, ...r }) => r);
      return { a };
    },
  ],
  EV3: [
    "keepAlive held (30 s heartbeat), agent idle 12 s: evicted? refs; the armed alarm later",
    async (w) => {
      await w.call("AG", "ev3", "keepAlive", null, true);
      const i = (await w.call("AG", "ev3", "ping")).ok;
      await sleep(12500);
      const s = (await w.call("AG", "ev3", "snap")).ok;
      return { newInstance: s.instance !== i, refs: s.refs, alarm: s.alarmInSec === null ? null : "still armed" };
    },
  ],
};
