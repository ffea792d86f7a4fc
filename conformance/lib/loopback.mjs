// The servers on loopback that the objects of the core probes may talk to: HTTP that answers late, and bare TCP.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import net from "node:net";

const WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, section 1.3

const listen = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));

/** Starts both servers; `http` and `tcp` are their ports. */
export async function startLoopback() {
  const tcpEvents = [];
  const http = createServer((request, response) => answer(request, response, tcpEvents));
  http.on("upgrade", acceptWebSocket);
  const tcp = net.createServer((socket) => {
    const events = ["connect"];
    tcpEvents.push(events);
    socket.on("error", (error) => events.push("error " + error.code));
    socket.on("data", (data) => events.push("data " + data.length));
    socket.on("end", () => events.push("end"));
    socket.on("close", () => events.push("close"));
  });
  const ports = { http: await listen(http), tcp: await listen(tcp) };
  const close = () => {
    http.closeAllConnections();
    http.close();
    tcp.close();
  };
  return { ...ports, close };
}

function answer(request, response, tcpEvents) {
  const url = new URL(request.url, "http://x");
  switch (url.pathname) {
    case "/slow":
      setTimeout(() => response.end("slow"), Number(url.searchParams.get("ms")));
      break;
    case "/tcp-events":
      response.end(JSON.stringify(tcpEvents));
      break;
    case "/big":
      response.write("x".repeat(65536));
      setTimeout(() => response.end("y".repeat(65536)), 300);
      break;
    default:
      response.end("ok");
  }
}

function acceptWebSocket(request, socket) {
  const accept = createHash("sha1")
    .update(request.headers["sec-websocket-key"] + WEBSOCKET_GUID)
    .digest("base64");
  socket.write(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on("error", () => {});
}
