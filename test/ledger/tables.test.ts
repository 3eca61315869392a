import { rmSync } from "node:fs";
import { join } from "node:path";
import { LedgerUnavailableError } from "a2a-lease";
import { createRedisLedger } from "a2a-lease/redis";
import {
  createPostgresLedger,
  createSqliteLedger,
  createSqlLedger,
  type SqliteDatabase,
} from "a2a-lease/sql";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
  postgresUrlOf,
} from "./stores.ts";

const noTables = {
  reason: "no-tables",
  retry: "never",
  nextStep: "ask-user",
  message: expect.stringMatching(
    /found no tables, wanted them: .*ledger\.migrate\(\).*without migrate: false/,
  ),
};

describe("in SQLite", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = freshFolder();
    path = join(folder, "ledger.db");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("tables that were never made are told of, whatever is asked", async () => {
    const ledger = await createSqliteLedger({ database: openSqlite(path), migrate: false });
    for (const asked of [
      ledger.read("k"),
      ledger.write("k", taskRecord("t"), 0),
      ledger.remove("k"),
      ledger.list({ kind: "task" }),
      ledger.prune(),
    ]) {
      expect(await rejectionOf(asked)).toMatchObject(noTables);
    }
    await ledger.migrate();
    expect(await ledger.read("k")).toBe(undefined);
    await ledger.close();
  });

  test.skipIf(betterSqliteFault !== undefined)(
    "what may only be read is read, and never written to (left out where better-sqlite3 has no binary)",
    async () => {
      const first = await createSqliteLedger({ path });
      await first.write("k", taskRecord("t"), 0);
      const database = new BetterSqlite(path, { readonly: true }) as unknown as SqliteDatabase;
      const ledger = await createSqliteLedger({ database });
      expect((await ledger.read("k"))?.record).toEqual(taskRecord("t"));
      expect(await rejectionOf(ledger.write("l", taskRecord("l"), 0))).toMatchObject({
        reason: "path",
        retry: "never",
        message: expect.stringContaining("may be written to"),
      });
      await ledger.close();
      await first.close();
    },
  );

  test("a database that is closed under a ledger, or before it, is told of as one", async () => {
    const database = openSqlite(path);
    const ledger = await createSqliteLedger({ database });
    database.close();
    expect(await rejectionOf(ledger.read("k"))).toMatchObject({ reason: "closed", retry: "never" });
    const error = await rejectionOf(createSqliteLedger({ database }));
    expect(error).toBeInstanceOf(LedgerUnavailableError);
    expect(error).toMatchObject({ reason: "closed", retry: "never" });
    expect((error as Error).message).toMatch(/database.*not open; wanted an open/);
    expect((error as Error).message).not.toMatch(/path|file/);
  });
});

describe.skipIf(postgresUrl === "")("in PostgreSQL (left out without A2A_LEASE_POSTGRES_URL)", () => {
  const name = freshName();
  const role = `${name}r`;
  beforeEach(() => onPostgres(`create schema ${name}`, `create role ${role} login`));
  afterEach(() => onPostgres(`drop schema ${name} cascade`, `drop role ${role}`));
  const poolAs = (user: string, more = "") =>
    new pg.Pool({
      connectionString: postgresUrlOf(user),
      options: `-c search_path=${name} ${more}`,
      max: 2,
    });

  async function fill() {
    const owner = await createPostgresLedger({ pool: poolOn(name) });
    await owner.write("k", taskRecord("t"), 0);
    await owner.close();
  }

  test("tables that were never made are told of", async () => {
    const ledger = await createPostgresLedger({ pool: poolOn(name), migrate: false });
    expect(await rejectionOf(ledger.read("k"))).toMatchObject(noTables);
    expect(await rejectionOf(ledger.write("k", taskRecord("t"), 0))).toMatchObject(noTables);
    await ledger.close();
  });

  test("a role that may only read and write rows opens tables that are up to date", async () => {
    await fill();
    await onPostgres(
      `grant usage on schema ${name} to ${role}`,
      `grant select, insert, update, delete on all tables in schema ${name} to ${role}`,
    );
    const ledger = await createPostgresLedger({ pool: poolAs(role) });
    const entry = await ledger.read("k");
    await ledger.write("k", taskRecord("t"), entry?.revision ?? 0);
    await ledger.migrate();
    await ledger.close();
  });

  test("a role that may only read does, and its writes are refused for good", async () => {
    await fill();
    await onPostgres(
      `grant usage on schema ${name} to ${role}`,
      `grant select on all tables in schema ${name} to ${role}`,
    );
    const ledger = await createPostgresLedger({ pool: poolAs(role) });
    expect((await ledger.read("k"))?.record).toEqual(taskRecord("t"));
    expect(await rejectionOf(ledger.write("l", taskRecord("l"), 0))).toMatchObject({
      reason: "refused",
      retry: "never",
    });
    await ledger.close();
  });

  test("a database that is read-only for now is read, and writes are waited for", async () => {
    await fill();
    const ledger = await createPostgresLedger({
      pool: poolAs("postgres", "-c default_transaction_read_only=on"),
    });
    expect((await ledger.read("k"))?.record).toEqual(taskRecord("t"));
    expect(await rejectionOf(ledger.write("l", taskRecord("l"), 0))).toMatchObject({ reason: "store" });
    await ledger.close();
  });
});

test.each<[string, () => Promise<unknown>, string]>([
  ["database", () => createSqliteLedger({ database: {} as never }), "prepare, close"],
  ["database", () => createSqliteLedger({ database: Promise.resolve() as never }), "a promise"],
  ["pool", () => createPostgresLedger({ pool: {} as never }), "connect, end, on"],
  ["client", () => createRedisLedger({ client: {} as never }), "evalSha, eval"],
  ["dialect", () => createSqlLedger({ dialect: {} as never, engine: "sqlite" }), "createDriver"],
])("%s without what makes it one is a TypeError that says what is wanted", async (name, make, wanted) => {
  const error = await rejectionOf(make());
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message.startsWith(`${name}: found `)).toBe(true);
  expect((error as Error).message).toContain(wanted);
});
