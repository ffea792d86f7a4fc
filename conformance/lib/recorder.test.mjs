// Tests of the recorder without the runtime: form, comparison, replacement and command line.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { SUITES } from "../suites.mjs";
import { differences, shorten, verdict } from "./answers.mjs";
import { faults, layOut, writeData } from "./data.mjs";
import { chooseSuites, readOptions } from "./options.mjs";
import { replace } from "./replace.mjs";
import { repeat, summarise } from "./runs.mjs";

const result = (id, observed = 1, more = {}) => {
  return { id, description: "d", steps: "s", runs: 2, deterministic: true, observed, ...more };
};
const suite = (results) => {
  return { runtime: "workerd 2026-05-26", compatibilityDate: "2025-04-01", suite: "one", results };
};
const data = (results) => {
  return { about: "a", texts: {}, conventions: { ok: "value" }, suites: [suite(results)] };
};
const faultsOf = (value) => faults({ text: layOut(value), data: value });

test("sound data has no fault, and each broken field is told", () => {
  assert.deepEqual(faultsOf(data([result("A")])), []);
  const broken = [
    [result("A"), result("A")],
    [result("A", 1, { runs: 0 })],
    [result("A", 1, { observed: undefined })],
    [result("A", 1, { surprise: 1 })],
    [result("A", 1, { timings: [1] })],
    [result("A", [{ times: 1, result: 1 }], { deterministic: false })],
    [
      result(
        "A",
        [
          { times: 2, result: 1 },
          { times: 1, result: 2 },
        ],
        { deterministic: false },
      ),
    ],
    [],
  ];
  for (const results of broken) assert.equal(faultsOf(data(results)).length, 1, JSON.stringify(results));
});

test("data that is laid out otherwise is told, and short arrays stay on one line", () => {
  const value = data([result("A", [1, [2, 3]])]);
  assert.match(layOut(value), /\[\n +1,\n +\[2, 3\]\n/);
  assert.equal(faults({ text: JSON.stringify(value), data: value }).length, 1);
});

test("data is written whole or not at all, and nothing stays beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "recorder-"));
  const path = join(folder, "data.json");
  writeData(path, data([result("A")]));
  assert.equal(readFileSync(path, "utf8"), layOut(data([result("A")])));
  assert.deepEqual(readdirSync(folder), ["data.json"]);
  rmSync(folder, { recursive: true });
});

test("long texts get their names, and only an ordinary error loses its class", () => {
  const ordinary = { name: "Error", message: "too long (x)", ctor: "Error", isError: true, flags: {}, ownKeys: [] };
  const named = { ...ordinary, ctor: "DOMException", ownKeys: ["code"] };
  const texts = { "<T>": "too long" };
  assert.deepEqual(shorten([{ error: ordinary }], texts), [
    { error: { name: "Error", message: "<T> (x)", flags: {} } },
  ]);
  assert.deepEqual(shorten(named, texts), { ...named, message: "<T> (x)" });
});

test("an answer is the same, sometimes the same, or another", () => {
  const varied = (...results) => {
    return result(
      "A",
      results.map((value) => ({ times: 1, result: value })),
      { deterministic: false },
    );
  };
  assert.equal(verdict(result("A", { a: 1, b: 2 }), result("A", { b: 2, a: 1 })), "same");
  assert.equal(verdict(varied(1, 2), result("A", 2)), "same");
  assert.equal(verdict(result("A", 1), varied(1, 2)), "sometimes");
  assert.equal(verdict(result("A", 1), result("A", 3)), "differs");
  assert.deepEqual(differences(result("A", { a: [1, 2] }), result("A", { a: [1, 3] })), ["/a/1: recorded 2, now 3"]);
});

test("what was not recorded stays, order and notes too, and the day says which is new", () => {
  const old = suite([result("B", 1, { note: "by hand" }), result("A")]);
  const some = structuredClone(old);
  replace(some, { runtime: "r" }, new Map([["B", result("B", 7)]]), "2027-01-02");
  assert.deepEqual(some.results, [result("B", 7, { note: "by hand", recorded: "2027-01-02" }), result("A")]);
  assert.equal(some.recorded, undefined);
  const all = structuredClone(some);
  const results = new Map(["A", "B", "C"].map((id) => [id, result(id, 9)]));
  replace(all, { runtime: "r" }, results, "2027-01-03");
  assert.deepEqual(all, {
    runtime: "r",
    suite: "one",
    recorded: "2027-01-03",
    results: [result("B", 9, { note: "by hand" }), result("A", 9), result("C", 9)],
  });
});

test("runs that differ are counted, and a run without an answer spoils the result", async () => {
  const answers = [
    { ok: { stable: 1, timing: 5 } },
    { ok: { stable: 2, timing: 6 } },
    { ok: { stable: 1, timing: 7 } },
  ];
  const probe = { id: "A", description: "d", steps: "s" };
  const taken = summarise(probe, await repeat(3, () => answers.shift()));
  const seen = [
    { times: 2, result: 1 },
    { times: 1, result: 2 },
  ];
  assert.deepEqual(taken, result("A", seen, { runs: 3, deterministic: false, timings: [5, 6, 7] }));
  const spoiled = await repeat(2, () => Promise.reject(new Error("gone")));
  assert.match(summarise(probe, spoiled).failed, /gone/);
});

test("the command line refuses what does not exist", () => {
  const read = (...args) => readOptions(args, { data: "data.json" });
  assert.equal(read().mode, "record");
  assert.deepEqual(read("--check", "--only", "S1,S2").only, ["S1", "S2"]);
  for (const args of [["--what"], ["--runs", "0"], ["--runs", "x"], ["--check", "--out", "f"], ["S1"]]) {
    assert.throws(() => read(...args), { exit: 2 }, args.join(" "));
  }
  assert.throws(() => chooseSuites(SUITES, ["core/none"]), { exit: 2 });
  const kept = SUITES.find((one) => one.kept);
  assert.throws(() => chooseSuites(SUITES, [kept.name]), { exit: 2 });
  assert.equal(chooseSuites(SUITES).length, SUITES.length - 1);
});
