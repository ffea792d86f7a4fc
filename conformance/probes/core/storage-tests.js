// Series of storage calls that run inside one object and report what each came to.

import { attempt, syncAttempt } from "./shared.js";

export const SELF_TESTS = {
  async basics(o) {
    const s = o.ctx.storage;
    const out = {};
    out.getMissing = typeof (await s.get("nope"));
    out.putReturns = typeof (await s.put("a", { n: 1 }));
    const r1 = await s.get("a");
    r1.n = 99;
    out.mutatedCopyNotStored = (await s.get("a")).n;
    out.deleteExisting = await s.delete("a");
    out.deleteMissing = await s.delete("a");
    await s.put({ x: 1, y: 2, z: 3 });
    out.deleteManyCount = await s.delete(["x", "y", "absent"]);
    out.getMany = [...(await s.get(["z", "absent"])).entries()];
    await s.put({ c: 3, a: 1, b: 2 });
    out.getManyOrder = [...(await s.get(["c", "a", "b"])).keys()];
    out.putUndefined = await attempt(() => s.put("u", undefined));
    out.put129 = await attempt(() => s.put(Object.fromEntries(Array.from({ length: 129 }, (_, i) => ["k" + i, i]))));
    out.delete129 = await attempt(() => s.delete(Array.from({ length: 129 }, (_, i) => "k" + i)));
    out.get129 = await attempt(async () => (await s.get(Array.from({ length: 129 }, (_, i) => "k" + i))).size);
    out.bigKey = await attempt(() => s.put("k".repeat(2049), 1));
    out.value129KiB = await attempt(() => s.put("v", "v".repeat(129 * 1024)));
    out.value3MiB = await attempt(() => s.put("v", "v".repeat(3 * 1024 * 1024)));
    out.putFunction = await attempt(() => s.put("f", () => 1));
    out.emptyKey = await attempt(async () => {
      await s.put("", 1);
      return s.get("");
    });
    out.readYourUnawaitedWrite = await (s.put("ryw", 7), s.get("ryw"));
    s.put("lw", 1);
    s.put("lw", 2);
    s.delete("lw");
    s.put("lw", 3);
    out.lastWriteWins = await s.get("lw");
    out.sqlGetter = syncAttempt(() => typeof o.ctx.storage.sql);
    out.sqlRows = syncAttempt(() => o.ctx.storage.sql.exec("SELECT 1 AS one").toArray());
    out.kvTableVisible = syncAttempt(() => o.ctx.storage.sql.exec("SELECT count(*) AS n FROM _cf_KV").toArray());
    out.syncKvApi = typeof o.ctx.storage.kv;
    return out;
  },
  async list(o) {
    const s = o.ctx.storage;
    const out = {};
    await s.put({ b: 1, a: 2, ab: 3, aa: 4, B: 5, é: 6, z: 7, 10: 8, 9: 9, "\uFFFD": 10, "😀": 11 });
    const keys = async (opt) => [...(await s.list(opt)).keys()];
    out.all = await keys();
    out.reverse = await keys({ reverse: true });
    out.prefixA = await keys({ prefix: "a" });
    out.limit2 = await keys({ limit: 2 });
    out.reverseLimit2 = await keys({ reverse: true, limit: 2 });
    out.startInclusive = await keys({ start: "a", end: "b" });
    out.startAfter = await keys({ startAfter: "a", end: "z" });
    out.startAndStartAfter = await attempt(() => s.list({ start: "a", startAfter: "b" }));
    out.limit0 = await attempt(() => s.list({ limit: 0 }));
    out.limitNeg = await attempt(() => s.list({ limit: -1 }));
    out.prefixAndStart = await keys({ prefix: "a", start: "aa" });
    out.returns = (await s.list()).constructor.name;
    out.emptyPrefix = (await keys({ prefix: "" })).length;
    return out;
  },
  async txn(o) {
    const s = o.ctx.storage;
    const out = {};
    await s.put("a", 0);
    out.thrown = await attempt(() =>
      s.transaction(async (t) => {
        await t.put("a", 1);
        await s.put("b", 1);
        throw new Error("roll me back");
      }),
    );
    out.afterThrow = Object.fromEntries(await s.list());
    out.rollback = await attempt(() =>
      s.transaction(async (t) => {
        await t.put("a", 2);
        t.rollback();
        return "rb";
      }),
    );
    out.afterRollback = await s.get("a");
    out.useAfterRollback = await attempt(() =>
      s.transaction(async (t) => {
        t.rollback();
        await t.put("a", 3);
      }),
    );
    out.commit = await attempt(() =>
      s.transaction(async (t) => {
        await t.put("a", 4);
        return await t.get("a");
      }),
    );
    out.afterCommit = await s.get("a");
    out.deleteAllInTxn = await attempt(() =>
      s.transaction(async (t) => {
        t.deleteAll();
      }),
    );
    out.storageDeleteAllInTxn = await attempt(() =>
      s.transaction(async () => {
        await s.deleteAll();
      }),
    );
    out.nested = await attempt(() =>
      s.transaction(async (t) => {
        await t.put("n", 1);
        await s.transaction(async (u) => {
          await u.put("n", 2);
          u.rollback();
        });
        return t.get("n");
      }),
    );
    out.alarmRolledBack = await attempt(() =>
      s.transaction(async (t) => {
        await t.setAlarm(Date.now() + 60000);
        throw new Error("x");
      }),
    );
    out.alarmAfterRollback = await s.getAlarm();
    out.syncRollback = syncAttempt(() =>
      s.transactionSync(() => {
        s.sql.exec("CREATE TABLE IF NOT EXISTS t(x)");
        s.sql.exec("INSERT INTO t VALUES (1)");
        throw new Error("sync boom");
      }),
    );
    out.tableAfterSyncRollback = syncAttempt(() =>
      s.sql.exec("SELECT count(*) AS n FROM sqlite_master WHERE name='t'").toArray(),
    );
    let leaked;
    await s.transaction(async (t) => {
      leaked = t;
    });
    out.leakedTxn = await attempt(() => leaked.put("late", 1));
    return out;
  },
  async alarmApi(o) {
    const s = o.ctx.storage;
    const out = {};
    out.getNone = await s.getAlarm();
    const at = Date.now() + 100000;
    out.setReturns = typeof (await s.setAlarm(at));
    out.getEqualsSet = (await s.getAlarm()) === at;
    out.getType = typeof (await s.getAlarm());
    await s.setAlarm(new Date(at + 5));
    out.dateAccepted = (await s.getAlarm()) === at + 5;
    await s.setAlarm(at - 50000);
    out.overwrites = (await s.getAlarm()) === at - 50000;
    await s.setAlarm(at + 0.75);
    out.fraction = (await s.getAlarm()) - at;
    out.deleteReturns = typeof (await s.deleteAlarm());
    out.afterDelete = await s.getAlarm();
    out.deleteAgain = await attempt(() => s.deleteAlarm());
    out.zero = await attempt(() => s.setAlarm(0));
    out.negative = await attempt(() => s.setAlarm(-5));
    out.nan = await attempt(() => s.setAlarm(NaN));
    out.undef = await attempt(() => s.setAlarm(undefined));
    out.infinity = await attempt(() => s.setAlarm(Infinity));
    const p = s.setAlarm(1);
    const past = await s.getAlarm();
    await p;
    out.pastClampedWithin = past === null ? "null" : Math.abs(past - Date.now()) < 20 ? "now" : past - Date.now();
    await s.deleteAlarm();
    out.afterPastDelete = await s.getAlarm();
    return out;
  },
  async deleteAll(o) {
    const s = o.ctx.storage;
    const out = {};
    await s.put("a", 1);
    s.sql.exec("CREATE TABLE t(x)");
    s.sql.exec("INSERT INTO t VALUES (1)");
    await s.setAlarm(Date.now() + 60000);
    await s.deleteAll();
    out.keys = (await s.list()).size;
    out.sqlTables = s.sql.exec("SELECT count(*) AS n FROM sqlite_master WHERE name = 't'").toArray()[0].n;
    out.alarmKept = (await s.getAlarm()) !== null;
    await s.put("after", 1);
    out.usableAfter = await s.get("after");
    await s.deleteAlarm();
    return out;
  },
};
