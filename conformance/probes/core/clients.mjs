// The clients of the process probes: a reader of server-sent events and a WebSocket, both keep what they saw.

import http from "node:http";

export function sse(w, path) {
  const st = { chunks: [], ended: null, error: null, status: null };
  const failed = (e) => {
    st.error = e.code ?? e.message;
  };
  const req = http.get({ host: "127.0.0.1", port: w.port, path }, (res) => {
    st.status = res.statusCode;
    res.on("data", (d) => st.chunks.push(String(d)));
    res.on("end", () => {
      st.ended = res.complete ? "complete" : "incomplete";
    });
    res.on("error", failed);
  });
  req.on("error", failed);
  st.destroy = () => req.destroy();
  return st;
}

/** `WebSocket` is the class of the ws package: the client of Node 20 is none. */
export const webSockets = (WebSocket) => (w, path) => {
  const s = new WebSocket(`ws://127.0.0.1:${w.port}${path}`);
  const st = { msgs: [], close: null, error: null, s };
  s.on("message", (d) => st.msgs.push(String(d)));
  s.on("close", (c, r) => {
    st.close = [c, String(r)];
  });
  s.on("error", (e) => {
    st.error = e.message;
  });
  st.open = new Promise((r) => s.on("open", r));
  return st;
};
