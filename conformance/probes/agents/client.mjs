// One process of the runtime with the agents worker, and the MCP client that talks to it.

import http from "node:http";
import { Workerd } from "../../lib/workerd.mjs";

const CLIENT = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "probe", version: "0" } };

export class AgentsWorkerd extends Workerd {
  call(ns, name, beh, arg, init) {
    return this.json("/call", { method: "POST", body: JSON.stringify({ ns, name, beh, arg, init }) });
  }

  /** Sends one request; `head` and `done` resolve with its answer's head and its end, however that comes. */
  mcp(method, body, sid) {
    const st = { status: null, headers: {}, chunks: [], ended: null, error: null };
    const failed = (e) => {
      st.error = e.code ?? e.message;
      st.onHead?.();
      st.onEnd?.();
    };
    const headers = {
      accept: "application/json, text/event-stream",
      ...(body ? { "content-type": "application/json" } : {}),
      ...(sid ? { "mcp-session-id": sid } : {}),
    };
    const options = { host: "127.0.0.1", port: this.port, path: "/mcp", method, agent: false, headers };
    const req = http.request(options, (res) => {
      st.status = res.statusCode;
      st.headers = res.headers;
      st.onHead?.();
      res.on("data", (d) => st.chunks.push(String(d)));
      res.on("end", () => {
        st.ended = res.complete ? "complete" : "incomplete";
        st.onEnd?.();
      });
      res.on("error", failed);
    });
    req.on("error", failed);
    st.head = new Promise((r) => (st.onHead = r));
    st.done = new Promise((r) => (st.onEnd = r));
    st.destroy = () => req.destroy();
    req.end(body ? JSON.stringify(body) : undefined);
    return st;
  }

  async open() {
    const i = this.mcp("POST", { jsonrpc: "2.0", id: "init", method: "initialize", params: CLIENT });
    await i.done;
    const sid = i.headers["mcp-session-id"];
    const n = this.mcp("POST", { jsonrpc: "2.0", method: "notifications/initialized" }, sid);
    await n.done;
    return { sid, init: i, note: n };
  }

  tool(sid, id, name, args) {
    return this.mcp("POST", { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } }, sid);
  }

  snap(sid) {
    return this.call("MCP", "streamable-http:" + sid, "snap").then((r) => r.ok ?? r);
  }
}
