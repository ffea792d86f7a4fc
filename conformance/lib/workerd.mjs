// One process of the real runtime: its configuration, its start on a free loopback port, its end.

import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { EXIT, Failure } from "./failure.mjs";

export const COMPATIBILITY_DATE = "2025-04-01";
export const COMPATIBILITY_FLAGS = ["nodejs_compat", "unsafe_module", "experimental"];

const START_MS = 30_000;
const unable = (why) => new Failure(EXIT.unable, `the real runtime ${why}`);
const living = new Set();
const folders = new Set();

/** Ends every runtime that still lives and removes its folder: for the end of this process, however it comes. */
export function endAll() {
  for (const child of living) child.kill("SIGKILL");
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
}

/** A temporary folder that is gone when this process has ended. */
export function temporaryFolder(prefix) {
  const dir = mkdtempSync(join(tmpdir(), prefix));
  folders.add(dir);
  return dir;
}

export class Workerd {
  /**
   * `worker` says what runs: `binary`, `modules` (paths, the main one first), `flags` beyond the usual ones, `namespaces` and
   * `bindings` in the syntax of the runtime's configuration, and `graceMs` between SIGTERM and SIGKILL. With `dir` the process
   * goes on with the storage of an earlier one.
   */
  constructor(worker, { dir } = {}) {
    this.worker = worker;
    this.dir = dir ?? temporaryFolder("probe-");
    mkdirSync(join(this.dir, "disk"), { recursive: true });
  }

  async start() {
    for (const path of this.worker.modules) copyFileSync(path, join(this.dir, basename(path)));
    writeFileSync(join(this.dir, "config.capnp"), this.configuration());
    const args = ["serve", "--experimental", "--control-fd=3", join(this.dir, "config.capnp")];
    this.p = spawn(this.worker.binary, args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
    living.add(this.p);
    this.output = "";
    this.p.stdout.on("data", (data) => (this.output += data));
    this.p.stderr.on("data", (data) => (this.output += data));
    this.exited = new Promise((resolve, reject) => {
      this.p.on("exit", (code, signal) => {
        living.delete(this.p);
        resolve([code, signal]);
      });
      this.p.on("error", reject);
    });
    this.port = await this.listening();
    return this;
  }

  async listening() {
    let late;
    const port = new Promise((resolve, reject) => {
      late = setTimeout(() => reject(unable("did not listen within 30 s")), START_MS);
      let text = "";
      this.p.stdio[3].on("data", (data) => {
        text += data;
        // what follows the last line break may be a part of a line
        for (const line of text.split("\n").slice(0, -1)) {
          const message = JSON.parse(line);
          if (message.event === "listen") resolve(message.port);
        }
      });
      this.exited.then((how) => reject(unable(`ended as it started (${how}): ${this.output.trim()}`)), reject);
    });
    return port.finally(() => clearTimeout(late));
  }

  configuration() {
    const quote = JSON.stringify;
    const modules = this.worker.modules.map((path) => basename(path));
    const flags = [...COMPATIBILITY_FLAGS, ...this.worker.flags];
    return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .w),
    (name = "net", network = (allow = ["127.0.0.1/32"])),
    (name = "disk", disk = (path = ${quote(join(this.dir, "disk"))}, writable = true)) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ] );
const w :Workerd.Worker = (
  modules = [ ${modules.map((name) => `(name = ${quote(name)}, esModule = embed ${quote(name)})`).join(", ")} ],
  compatibilityDate = ${quote(COMPATIBILITY_DATE)}, compatibilityFlags = [ ${flags.map(quote).join(", ")} ],
  globalOutbound = "net",
  durableObjectStorage = (localDisk = "disk"),
  durableObjectNamespaces = [ ${this.worker.namespaces.join(", ")} ],
  bindings = [ ${this.worker.bindings.join(", ")} ] );
`;
  }

  async json(path, init) {
    const url = `http://127.0.0.1:${this.port}${path}`;
    const response = await fetch(url, { ...init, headers: { connection: "close" } });
    return response.json();
  }

  /** SIGTERM drains: the runtime waits for open connections, so a held stream needs the SIGKILL after the grace. */
  async stop(signal = "SIGTERM", graceMs = this.worker.graceMs) {
    this.p.kill(signal);
    const timer = setTimeout(() => this.p.kill("SIGKILL"), graceMs);
    const how = await this.exited;
    clearTimeout(timer);
    return how;
  }

  clean() {
    folders.delete(this.dir);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Runs a probe that starts its own processes with `start`; ends what it left. */
export async function withProcesses(make, probe) {
  const started = [];
  const start = (options) => {
    const process = make(options);
    started.push(process);
    return process.start();
  };
  try {
    return await probe(start);
  } finally {
    for (const process of started) {
      if (living.has(process.p)) await process.stop("SIGKILL");
      process.clean();
    }
  }
}
