// Probes of WebSockets, streams and clients that leave (WS, SSE, CL).

import http from "node:http";
import { sleep } from "../../lib/sleep.mjs";

export const CONNECTIONS = {
  WS1: [
    "hibernatable WebSocket: idle 12 s, getWebSockets, message wakes a new instance, attachment, tags, close",
    async ({ start, ws }) => {
      const w = await start();
      const c = ws(w, "/do/h/ws?hib=1");
      await c.open;
      c.s.send("one");
      await sleep(300);
      await sleep(12000);
      const list = (await w.call("h", "getWebSockets")).ok;
      c.s.send("two");
      await sleep(300);
      await sleep(12000);
      c.s.send("three");
      await sleep(300);
      c.s.close(1000, "bye");
      await sleep(500);
      const log = (await w.json("/log")).filter((e) => e.tag.startsWith("ws-")).map(({ t, ...e }) => e);
      const ctors = (await w.json("/log")).filter((e) => e.tag === "ctor").map((e) => e.name);
      await w.stop();
      w.clean();
      return { ok: { echoes: c.msgs, getWebSockets: list, log, ctorNames: ctors, clientClose: c.close } };
    },
  ],
  WS2: [
    "ordinary WebSocket (server.accept()): idle 13 s, then a message",
    async ({ start, ws }) => {
      const w = await start();
      const c = ws(w, "/do/p/ws");
      await c.open;
      c.s.send("one");
      await sleep(13000);
      c.s.send("two");
      await sleep(400);
      const r = { echoes: c.msgs, list: (await w.call("p", "getWebSockets")).ok };
      c.s.terminate();
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  WS3: [
    "object aborted: its ordinary and hibernatable WebSocket clients",
    async ({ start, ws }) => {
      const w = await start();
      const p = ws(w, "/do/p/ws"),
        h = ws(w, "/do/h/ws?hib=1");
      await Promise.all([p.open, h.open]);
      await w.call("p", "abort", "boom");
      await w.call("h", "abort", "boom");
      await sleep(1000);
      const r = {
        ordinary: { close: p.close, error: p.error },
        hibernatable: { close: h.close, error: h.error },
        after: (await w.call("h", "getWebSockets")).ok,
        log: (await w.json("/log")).filter((e) => e.tag.startsWith("ws-")).map((e) => e.tag),
      };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  WS4: [
    "hibernated WebSocket (object evicted), then abortAllDurableObjects",
    async ({ start, ws }) => {
      const w = await start();
      const h = ws(w, "/do/h/ws?hib=1");
      await h.open;
      await sleep(12000);
      await w.json("/abortall");
      await sleep(800);
      const r = { close: h.close, error: h.error, after: (await w.call("h", "getWebSockets")).ok };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  SSE1: [
    "silent SSE stream: idle 13 s: instance, getWebSockets, stream still open, later write reaches the client",
    async ({ start, sse }) => {
      const w = await start();
      const c = sse(w, "/do/s/sse");
      await sleep(300);
      const i1 = (await w.call("s", "ping")).ok.instance;
      await sleep(13000);
      const i2 = (await w.call("s", "ping")).ok.instance;
      const list = (await w.call("s", "getWebSockets")).ok;
      const r = {
        status: c.status,
        first: c.chunks[0]?.replace(/\d+/, "N"),
        instance: i1 === i2 ? "same" : "new",
        getWebSockets: list,
        ended: c.ended,
        error: c.error,
      };
      c.destroy();
      await sleep(200);
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  SSE2: [
    "SSE stream with a tick every second for 13 s",
    async ({ start, sse }) => {
      const w = await start();
      const c = sse(w, "/do/s/sse?every=1000");
      await sleep(300);
      const i1 = (await w.call("s", "ping")).ok.instance;
      await sleep(13000);
      const i2 = (await w.call("s", "ping")).ok.instance;
      const r = { ticksAtLeast12: c.chunks.length >= 12, instance: i1 === i2 ? "same" : "new" };
      c.destroy();
      await sleep(2500);
      const log = (await w.json("/log")).filter((e) => e.tag.startsWith("sse-"));
      r.writeAfterClientLeft = log.map((e) => [e.tag, e.m]);
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
  SSE3: [
    "object aborted while a client holds its SSE stream (ctx.abort / abortAll)",
    async ({ start, sse }) => {
      const w = await start();
      const a = sse(w, "/do/a/sse"),
        b = sse(w, "/do/b/sse");
      await sleep(400);
      await w.call("a", "abort", "boom");
      await sleep(700);
      const ra = { ended: a.ended, error: a.error };
      await w.json("/abortall");
      await sleep(700);
      const rb = { ended: b.ended, error: b.error };
      a.destroy();
      b.destroy();
      await w.stop();
      w.clean();
      return { ok: { ctxAbort: ra, abortAll: rb } };
    },
  ],
  CL1: [
    "HTTP client goes away during a 1.5 s handler of the object: does the handler go on",
    async ({ start }) => {
      const w = await start();
      const req = http.request({ host: "127.0.0.1", port: w.port, path: "/do/c/beh?b=waitTimer&a=1500" });
      req.on("error", () => {});
      req.end();
      await sleep(300);
      req.destroy();
      await sleep(2000);
      const log = (await w.json("/log")).map((e) => e.tag);
      const r = { log };
      await w.stop();
      w.clean();
      return { ok: r };
    },
  ],
};
