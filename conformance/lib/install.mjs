// Installs the pinned packages of a suite from npm, once, into a folder that the repository ignores.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { EXIT, Failure } from "./failure.mjs";

const ROOT = join(import.meta.dirname, "..");
const PINNED = join(ROOT, "packages");
const INSTALLED = join(ROOT, ".installed");

const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/;

/** The runtime is pinned as the package for one platform; the others were never recorded. */
export function requirePlatform() {
  if (process.platform !== "linux" || process.arch !== "x64") {
    const here = `${process.platform} ${process.arch}`;
    throw new Failure(EXIT.unable, `the real runtime is pinned for linux x64 and does not run on ${here}`);
  }
}

/** The folder that the packages of `name` are installed in: another lock file is another folder. */
function folderOf(name) {
  const lock = readFileSync(join(PINNED, name, "package-lock.json"));
  return join(INSTALLED, `${name}-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`);
}

/** Installs the packages of `name`, unless they are; gives their folder. */
export function install(name, say) {
  const folder = folderOf(name);
  if (existsSync(folder)) return folder;
  removeAbandoned();
  say(`installing ${name} from npm ...`);
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  process.once("exit", () => rmSync(partial, { recursive: true, force: true }));
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(PINNED, name, file), join(partial, file));
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000", "--loglevel=error"];
  npm(["ci", ...options], partial, name);
  // another run may have been faster
  if (!existsSync(folder)) renameSync(partial, folder);
  return folder;
}

/** Does npm answer at all, if it is needed? Asked before anything is installed, where nobody wants to wait. */
export function askNpm(name, timeout) {
  if (existsSync(folderOf(name))) return;
  const { dependencies } = JSON.parse(readFileSync(join(PINNED, name, "package.json"), "utf8"));
  const [[wanted, version]] = Object.entries(dependencies);
  npm(["view", `${wanted}@${version}`, "version", "--fetch-retries=0"], ROOT, name, timeout);
}

function npm(args, cwd, name, timeout) {
  const run = spawnSync("npm", args, { cwd, timeout, encoding: "utf8" });
  if (run.error?.code === "ENOENT") throw new Failure(EXIT.unable, "npm was not found: install Node.js with npm");
  if (run.error?.code === "ETIMEDOUT") throw new Failure(EXIT.unable, `npm did not answer within ${timeout / 1000} s`);
  if (run.status === 0) return;
  const unreachable = run.stderr.match(UNREACHABLE)?.[0];
  if (unreachable) throw new Failure(EXIT.unable, `npm could not be reached (${unreachable})`);
  const code = run.stderr.match(/npm error code (\S+)/)?.[1] ?? `exit ${run.status ?? run.signal}`;
  throw new Failure(EXIT.unable, `npm could not install the packages of ${name} (${code})`);
}

/** Folders that a killed run left half installed; the name ends with the number of its process. */
function removeAbandoned() {
  if (!existsSync(INSTALLED)) return;
  for (const entry of readdirSync(INSTALLED)) {
    const owner = entry.match(/\.(\d+)$/)?.[1];
    if (owner && !lives(Number(owner))) rmSync(join(INSTALLED, entry), { recursive: true, force: true });
  }
}

function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
