import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LedgerUnavailableError } from "a2a-lease";
import {
  createPostgresLedger,
  createSqliteLedger,
  createSqlLedger,
  type SqliteDatabase,
} from "a2a-lease/sql";
import BetterSqlite from "better-sqlite3";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { taskRecord } from "../../src/testing/ledger-records.ts";
import { rejectionOf } from "../card/cards.ts";
import {
  betterSqliteFault,
  freshFolder,
  freshName,
  onPostgres,
  openSqlite,
  poolOn,
  postgresUrl,
} from "./stores.ts";

const notWorthWaiting = { reason: "path", retry: "never", nextStep: "ask-user" };

describe("the tables in SQLite", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = freshFolder();
    path = join(folder, "ledger.db");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const open = () => createSqliteLedger({ database: openSqlite(path) });
  function run(statement: string) {
    const database = new Libsql(path);
    database.exec(statement);
    database.close();
  }

  test("may be brought up to date again and again, and keep what is in them", async () => {
    const ledger = await open();
    await ledger.write("k", taskRecord("t"), 0);
    await ledger.migrate();
    await ledger.close();
    const again = await open();
    expect((await again.read("k"))?.record).toEqual(taskRecord("t"));
    await again.close();
  });

  test("are made by whoever is first of many", async () => {
    const ledgers = await Promise.all(Array.from({ length: 5 }, open));
    await ledgers[0]?.write("k", taskRecord("t"), 0);
    for (const ledger of ledgers) expect((await ledger.read("k"))?.key).toBe("k");
    for (const ledger of ledgers) await ledger.close();
  });

  test("that an interrupted start left half made are completed", async () => {
    run("create table a2a_lease_schema (id integer primary key, version integer not null)");
    const ledger = await open();
    await ledger.write("k", taskRecord("t"), 0);
    await ledger.close();
  });

  test("that a newer version made are left alone, and named", async () => {
    await (await open()).close();
    run("update a2a_lease_schema set version = 99");
    const error = await rejectionOf(open());
    expect(error).toBeInstanceOf(LedgerUnavailableError);
    expect(error).toMatchObject({ reason: "schema", foundSchema: 99, wantedSchema: 1, retry: "never" });
  });

  test("are not made where that was not asked for", async () => {
    const ledger = await createSqliteLedger({ database: openSqlite(path), migrate: false });
    expect(await rejectionOf(ledger.read("k"))).toBeInstanceOf(LedgerUnavailableError);
    await ledger.migrate();
    expect(await ledger.read("k")).toBe(undefined);
    await ledger.close();
    expect(await rejectionOf(ledger.migrate())).toMatchObject({ reason: "closed" });
  });

  test("are not looked for in a file that is no database", async () => {
    writeFileSync(
      path,
      "this is a text, and it is long enough not to be taken for an empty file. ".repeat(50),
    );
    expect(await rejectionOf(open())).toMatchObject({
      ...notWorthWaiting,
      message: expect.stringContaining("; wanted a file of SQLite, or none at all"),
    });
  });

  test.skipIf(betterSqliteFault !== undefined).each<[string, RegExp, () => string | SqliteDatabase]>([
    [
      "a folder",
      /unable to open database file; wanted a path to a file, in a folder that exists/,
      () => {
        mkdirSync(path);
        return path;
      },
    ],
    [
      "a folder that is not there",
      /directory does not exist; wanted a path/,
      () => join(folder, "no", "l.db"),
    ],
    [
      "a folder that is a file",
      /unable to open database file; wanted a path/,
      () => {
        writeFileSync(path, "");
        return join(path, "ledger.db");
      },
    ],
    [
      "a text",
      /file is not a database; wanted a file of SQLite/,
      () => {
        writeFileSync(path, "a text that is no database. ".repeat(100));
        return path;
      },
    ],
    [
      "what nobody may write to",
      /readonly database; wanted a file and a folder that may be written to/,
      () => {
        new BetterSqlite(path).exec("create table t (a)").close();
        return new BetterSqlite(path, { readonly: true });
      },
    ],
  ])(
    `are not looked for in %s (left out where better-sqlite3 has no binary), and waiting is no advice`,
    async (_what, message, make) => {
      const made = make();
      const where = typeof made === "string" ? { path: made } : { database: made };
      const error = await rejectionOf(createSqliteLedger(where));
      expect(error).toBeInstanceOf(LedgerUnavailableError);
      expect(error).toMatchObject({ ...notWorthWaiting, message: expect.stringMatching(message) });
    },
  );

  test.skipIf(betterSqliteFault !== undefined)(
    `are waited for while another process writes (left out where better-sqlite3 has no binary)`,
    async () => {
      const other = new BetterSqlite(path);
      other.exec("begin exclusive");
      const error = await rejectionOf(createSqliteLedger({ path, busyTimeoutMs: 1 }));
      other.close();
      expect(error).toMatchObject({ reason: "store", retry: "safe", nextStep: "wait" });
    },
  );

  test("want a package whose binary is there", async () => {
    class WithoutBinary {
      constructor() {
        throw new TypeError("Could not locate the bindings file.");
      }
    }
    vi.doMock("better-sqlite3", () => ({ default: WithoutBinary }));
    vi.resetModules();
    try {
      const { createSqliteLedger: create } = await import("../../src/ledger/sqlite.ts");
      expect(await rejectionOf(create({ path }))).toMatchObject({
        reason: "peer-missing",
        retry: "never",
        message: expect.stringContaining("npm install better-sqlite3@~12"),
      });
    } finally {
      vi.doUnmock("better-sqlite3");
      vi.resetModules();
    }
  });
});

describe.skipIf(postgresUrl === "")(
  "the tables in PostgreSQL (left out without A2A_LEASE_POSTGRES_URL)",
  () => {
    const schema = freshName();
    beforeEach(() => onPostgres(`create schema ${schema}`));
    afterEach(() => onPostgres(`drop schema ${schema} cascade`));
    const open = () => createPostgresLedger({ pool: poolOn(schema) });

    test("are made by whoever is first of many", async () => {
      const ledgers = await Promise.all(Array.from({ length: 8 }, open));
      await ledgers[0]?.write("k", taskRecord("t"), 0);
      for (const ledger of ledgers) expect((await ledger.read("k"))?.key).toBe("k");
      for (const ledger of ledgers) await ledger.close();
    });

    test("that a newer version made are left alone, and named", async () => {
      await (await open()).close();
      await onPostgres(`update ${schema}.a2a_lease_schema set version = 99`);
      expect(await rejectionOf(open())).toMatchObject({ reason: "schema", foundSchema: 99 });
    });

    test("can't be reached at an address where nothing is, which names no password", async () => {
      const error = await rejectionOf(createPostgresLedger({ url: "postgres://me:hunter22@127.0.0.1:1/x" }));
      expect(error).toBeInstanceOf(LedgerUnavailableError);
      expect(JSON.stringify(error)).not.toContain("hunter22");
    });
  },
);

describe("an option that is none is a TypeError that names it", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["path, database", () => createSqliteLedger({})],
    ["path, database", () => createSqliteLedger({ path: "x", database: openSqlite(":memory:") })],
    ["path", () => createSqliteLedger({ path: "" })],
    ["path", () => createSqliteLedger({ path: 7 as never })],
    ["busyTimeoutMs", () => createSqliteLedger({ path: "x", busyTimeoutMs: -1 })],
    ["retentionMs", () => createSqliteLedger({ database: openSqlite(":memory:"), retentionMs: 0 })],
    ["url, pool", () => createPostgresLedger({})],
    ["engine", () => createSqlLedger({ engine: "mysql" as never, dialect: {} as never })],
  ])("%s", async (name, make) => {
    const error = await rejectionOf(make());
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(name);
  });
});
