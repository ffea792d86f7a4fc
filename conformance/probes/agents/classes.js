// The agents of the probes: one with a heartbeat of 30 s, one with 1 s, and one that serves MCP.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Agent } from "agents";
import { McpAgent } from "agents/mcp";
import { z } from "zod";
import { BEH } from "./behaviours.js";
import { err, log, rel, SHARED, sleep } from "./shared.js";

let ctors = 0;

export class Ag extends Agent {
  static options = { keepAliveIntervalMs: 30000 };
  constructor(ctx, env) {
    super(ctx, env);
    this.instance = ++ctors;
    this.onStarts = 0;
    log("ctor", { idName: ctx.id.name ?? null });
  }
  async onStart() {
    this.onStarts++;
    log("onStart", { idName: this.ctx.id.name ?? null });
    const k = "failStart:" + this.ctx.id;
    if (SHARED[k]) {
      SHARED[k]--;
      throw new Error("onStart boom");
    }
    if (SHARED["slowStart:" + this.ctx.id]) await sleep(150);
  }
  async call(b, a) {
    return BEH[b](this, a);
  }
  async tick() {
    log("tick");
  }
  async boom() {
    log("boom");
    throw new Error("schedule boom");
  }
  async alarm(info) {
    const seen = { before: {} };
    try {
      seen.before.name = this.name;
    } catch (e) {
      seen.before.name = err(e).error.message;
    }
    seen.before.idName = this.ctx.id.name ?? null;
    seen.psName = (await this.ctx.storage.get("__ps_name")) ?? null;
    seen.onStartsBefore = this.onStarts;
    const pre = await this.ctx.storage.get("alarm-pre");
    if (pre) await this.ctx.storage.setAlarm(Date.now() + pre);
    if (await this.ctx.storage.get("skip-super")) {
      log("alarm", { ...seen, skipped: true });
      return;
    }
    try {
      await super.alarm(info);
    } catch (e) {
      seen.superThrew = err(e).error;
      log("alarm", seen);
      throw e;
    }
    try {
      seen.after = this.name;
    } catch (e) {
      seen.after = err(e).error.message;
    }
    seen.onStartsAfter = this.onStarts;
    seen.alarmAfter = rel(await this.ctx.storage.getAlarm().catch(() => null));
    log("alarm", seen);
  }
}
export class Fast extends Ag {
  static options = { keepAliveIntervalMs: 1000 };
}
export class Mcp extends McpAgent {
  server = new McpServer({ name: "probe", version: "1.0.0" }, { capabilities: { logging: {} } });
  constructor(ctx, env) {
    super(ctx, env);
    this.instance = ++ctors;
    this.inits = 0;
    log("ctor", { idName: ctx.id.name ?? null });
  }
  async init() {
    this.inits++;
    log("init", { props: this.props ?? null });
    this.server.registerTool("echo", { description: "echo", inputSchema: { text: z.string() } }, async ({ text }) => ({
      content: [{ type: "text", text: text + " from " + this.instance }],
    }));
    this.server.registerTool("slow", { description: "slow", inputSchema: { ms: z.number() } }, async ({ ms }) => {
      log("slow-start", { i: this.instance });
      await sleep(ms);
      log("slow-end", { i: this.instance });
      return { content: [{ type: "text", text: "slow done " + this.instance }] };
    });
    this.server.registerTool("slowKeep", { description: "slow", inputSchema: { ms: z.number() } }, async ({ ms }) => {
      await this.keepAliveWhile(() => sleep(ms));
      return { content: [{ type: "text", text: "kept done " + this.instance }] };
    });
    this.server.registerTool("notify", { description: "notify", inputSchema: {} }, async () => {
      await this.server.server
        .sendLoggingMessage({ level: "info", data: "hello from " + this.instance })
        .catch((e) => log("notify-fail", err(e)));
      return { content: [{ type: "text", text: "ok" }] };
    });
  }
  async call(b, a) {
    return BEH[b](this, a);
  }
  async alarm(i) {
    log("mcp-alarm");
    return super.alarm(i);
  }
}
