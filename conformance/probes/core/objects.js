// The Durable Object classes of the probes: one with SQL storage, one without it, one without alarm().

import { DurableObject } from "cloudflare:workers";
import { ALARM_HANDLERS } from "./alarm-handlers.js";
import { BEHAVIOURS } from "./behaviours.js";
import { CONTEXT_BEHAVIOURS } from "./context-behaviours.js";
import { FAILURE_BEHAVIOURS } from "./failure-behaviours.js";
import { attempt, log, SHARED, sleep } from "./shared.js";

const BEH = { ...BEHAVIOURS, ...FAILURE_BEHAVIOURS, ...CONTEXT_BEHAVIOURS };
let ctorCount = 0;

class Base extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.instance = ++ctorCount;
    this.count = 0;
    this.key = ctx.id.toString();
    this.ctorName = ctx.id.name ?? null;
    log("ctor", { key: this.key, instance: this.instance, name: ctx.id.name ?? null });
    if (SHARED.box["ctorThrow:" + this.key]) {
      SHARED.box["ctorThrow:" + this.key]--;
      throw new Error("ctor boom");
    }
    const d = SHARED.box["ctorBcw:" + this.key];
    if (d)
      ctx.blockConcurrencyWhile(async () => {
        log("ctor-bcw-start");
        await sleep(d);
        log("ctor-bcw-end");
      });
    const dt = SHARED.box["ctorBcwThrow:" + this.key];
    if (dt) {
      SHARED.box["ctorBcwThrow:" + this.key]--;
      ctx.blockConcurrencyWhile(async () => {
        await sleep(20);
        throw new Error("ctor bcw boom");
      });
    }
    if (SHARED.box["ctorAlarm:" + this.key]) {
      delete SHARED.box["ctorAlarm:" + this.key];
      ctx.storage.setAlarm(Date.now() + 100);
    }
  }
  async call(beh, arg) {
    return BEH[beh](this, arg);
  }
  async seen(i) {
    log("seen", { i });
    return i;
  }
  async fetch(req) {
    const url = new URL(req.url);
    if (url.pathname === "/ws") {
      const [client, server] = Object.values(new WebSocketPair());
      if (url.searchParams.get("hib")) {
        this.ctx.acceptWebSocket(server, ["tag1"]);
        server.serializeAttachment({ n: 1 });
      } else {
        server.accept();
        server.addEventListener("message", (e) => {
          log("plain-ws-msg", { d: e.data, instance: this.instance });
          server.send("echo:" + e.data + ":" + this.instance);
        });
      }
      return new Response(null, { status: 101, webSocket: client });
    }
    if (url.pathname === "/sse") {
      const every = Number(url.searchParams.get("every") ?? 0);
      const { readable, writable } = new TransformStream();
      const w = writable.getWriter();
      const enc = new TextEncoder();
      w.write(enc.encode("data: hello " + this.instance + "\n\n")).catch((e) =>
        log("sse-write-fail", { m: String(e && e.message) }),
      );
      SHARED.box["sse:" + this.key] = w;
      if (every) {
        let n = 0;
        const iv = setInterval(() => {
          w.write(enc.encode(`data: tick ${++n}\n\n`)).catch((e) => {
            log("sse-tick-fail", { m: String(e && e.message) });
            clearInterval(iv);
          });
        }, every);
      }
      return new Response(readable, { headers: { "content-type": "text/event-stream" } });
    }
    if (url.pathname === "/throw") throw new TypeError("fetch boom");
    if (url.pathname.startsWith("/seen/")) {
      log("seen", { i: url.pathname.slice(6) });
      return new Response("ok");
    }
    if (url.pathname === "/beh")
      return Response.json(
        (await BEH[url.searchParams.get("b")](this, JSON.parse(url.searchParams.get("a") ?? "null"))) ?? null,
      );
    return new Response("pong " + this.instance);
  }
  async alarm(info) {
    this.alarmRuns = (this.alarmRuns ?? 0) + 1;
    const beh = (await this.ctx.storage.get("alarm-beh")) ?? "record";
    const rec = {
      t: Date.now(),
      name: this.ctx.id.name ?? null,
      instance: this.instance,
      run: this.alarmRuns,
      beh,
      info: info && {
        retryCount: info.retryCount,
        isRetry: info.isRetry,
        scheduledTime: info.scheduledTime,
        keys: Object.keys(Object.getPrototypeOf(info)).length,
      },
      getAlarm: await this.ctx.storage.getAlarm(),
    };
    (SHARED.box["alarm:" + this.ctx.id.toString()] ??= []).push(rec);
    log("alarm-start", { key: this.key, run: this.alarmRuns });
    await ALARM_HANDLERS[beh](this, info);
    log("alarm-end", { key: this.key, run: this.alarmRuns });
  }
  async webSocketMessage(ws, m) {
    log("ws-message", {
      m,
      instance: this.instance,
      att: ws.deserializeAttachment(),
      n: this.ctx.getWebSockets().length,
    });
    ws.send("hib-echo:" + m + ":" + this.instance);
  }
  async webSocketClose(ws, code, reason, clean) {
    log("ws-close", { code, reason, clean, instance: this.instance });
  }
  async webSocketError(ws, e) {
    log("ws-error", { m: String(e && e.message) });
  }
}
export class Probe extends Base {}
export class ProbeKv extends Base {}
export class NoAlarm extends DurableObject {
  async call() {
    return attempt(() => this.ctx.storage.setAlarm(Date.now() + 1000));
  }
}
