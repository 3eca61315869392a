import { LedgerUnavailableError } from "a2a-lease";
import { createRedisLedger, type RedisClient } from "a2a-lease/redis";
import { createPostgresLedger, type PostgresPool } from "a2a-lease/sql";
import pg from "pg";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { taskRecord } from "../../src/testing/ledger-records.ts";
import { rejectionOf } from "../card/cards.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";
import { freshName, onPostgres, postgresUrl, postgresUrlOf, redisUrl } from "./stores.ts";

const refused = { reason: "refused", retry: "never", nextStep: "ask-user" };
const passing = { reason: "store", retry: "safe", nextStep: "wait" };
const closed = { reason: "closed", retry: "never", nextStep: "give-up" };

describe("a URL that is none is a TypeError that names it, and repeats no secret", () => {
  const postgres = (url: string) => createPostgresLedger({ url });
  const redis = (url: string) => createRedisLedger({ url });

  test.each<[string, (url: string) => Promise<unknown>, string, string]>([
    ["", postgres, "an empty text", "postgres://"],
    ["lease", postgres, "no URL", "postgresql://"],
    ["http://me:hunter22@db.example/x", postgres, "http://", "postgres://"],
    ["mysql://me:hunter22@db.example/x", postgres, "mysql://", "postgres://"],
    ["host=db.example password=hunter22", postgres, "no URL", "postgres://"],
    ["postgres://me:hunter22@db.example:port/x", postgres, "can't be read", "postgres://"],
    ["postgres://me:hunter22@h/x?sslrootcert=/no/such/file&sslmode=require", postgres, "ENOENT", "file"],
    ["", redis, "an empty text", "redis://"],
    ["127.0.0.1:6379", redis, "no URL", "redis://"],
    ["http://me:hunter22@cache.example", redis, "http://", "rediss://"],
    ["redis://me:hunter22@cache.example:port", redis, "can't be read", "redis://"],
    ["redis://me:hunter22@cache.example/lease", redis, "can't be read", "redis://"],
  ])("%s", async (url, open, found, wanted) => {
    const error = await rejectionOf(open(url));
    expect(error).toBeInstanceOf(TypeError);
    const { message } = error as Error;
    expect(message).toMatch(/^url: found /);
    expect(message).toContain(found);
    expect(message).toContain(wanted);
    expect(JSON.stringify([message, error])).not.toContain("hunter22");
    expect(String((error as Error).cause ?? "")).not.toContain("hunter22");
  });
});

describe("what PostgreSQL says of a fault tells whether waiting helps", () => {
  const failing = (message: string, code?: string): PostgresPool => ({
    connect: () => Promise.reject(Object.assign(new Error(message), code === undefined ? {} : { code })),
    end: async () => {},
    on: () => {},
  });

  test.each<[string, string | undefined, object]>([
    ["database of that name does not exist", "3D000", refused],
    ["password authentication failed", "28P01", refused],
    ["no pg_hba.conf entry", "28000", refused],
    ["permission denied for schema", "42501", refused],
    ["no schema has been selected to create in", "3F000", refused],
    ["SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string", undefined, refused],
    ["The server does not support SSL connections", undefined, refused],
    ["self-signed certificate", "DEPTH_ZERO_SELF_SIGNED_CERT", refused],
    ["Cannot use a pool after calling end on the pool", undefined, closed],
    ["too many connections", "53300", passing],
    ["the database system is starting up", "57P03", passing],
    ["cannot execute INSERT in a read-only transaction", "25006", passing],
    ["connect ECONNREFUSED", "ECONNREFUSED", passing],
    ["timeout exceeded when trying to connect", undefined, passing],
  ])("%s (%s)", async (message, code, advice) => {
    const error = await rejectionOf(createPostgresLedger({ pool: failing(message, code) }));
    expect(error).toBeInstanceOf(LedgerUnavailableError);
    expect(error).toMatchObject({ ...advice, message: expect.stringContaining(message) });
  });
});

describe.skipIf(postgresUrl === "")(
  "what PostgreSQL refuses (left out without A2A_LEASE_POSTGRES_URL)",
  () => {
    const name = freshName();
    beforeAll(() => onPostgres(`create role ${name} login`, `create schema ${name}`));
    afterAll(() => onPostgres(`drop schema ${name}`, `drop role ${name}`));
    const asRole = () => {
      const pool = new pg.Pool({
        connectionString: postgresUrlOf(name),
        options: `-c search_path=${name}`,
      });
      return createPostgresLedger({ pool });
    };

    test.each<[string, () => Promise<unknown>]>([
      [
        "a database that is not there",
        () => createPostgresLedger({ url: postgresUrl.replace(/(\/\/[^/]*\/)[^?]*/, "$1nowhere") }),
      ],
      ["a role that is not there", () => createPostgresLedger({ url: postgresUrlOf("nobodyhere") })],
      ["a role that sees no schema", asRole],
      [
        "a role that may make no tables, where there are none",
        async () => {
          await onPostgres(`grant usage on schema ${name} to ${name}`);
          return asRole();
        },
      ],
    ])("%s", async (_what, open) => {
      expect(await rejectionOf(open())).toMatchObject({
        ...refused,
        message: expect.stringContaining("; wanted "),
      });
    });
  },
);

describe("what Redis says of a fault tells whether waiting helps", () => {
  const failing = (message: string): RedisClient => {
    const fail = () => Promise.reject(new Error(message));
    return { evalSha: fail, eval: fail };
  };

  test.each<[string, object]>([
    ["WRONGPASS invalid username-password pair or user is disabled.", refused],
    ["NOAUTH Authentication required.", refused],
    ["NOPERM this user has no permissions to run the 'evalsha' command", refused],
    ["ERR DB index is out of range", refused],
    ["The client is closed", closed],
    ["LOADING Redis is loading the dataset in memory", passing],
    ["READONLY You can't write against a read only replica.", passing],
    ["ERR max number of clients reached", passing],
    ["OOM command not allowed when used memory > 'maxmemory'.", passing],
    ["The client is offline", passing],
  ])("%s", async (message, advice) => {
    const ledger = await createRedisLedger({ client: failing(message) });
    expect(await rejectionOf(ledger.read("k"))).toMatchObject({
      ...advice,
      message: expect.stringContaining(message),
    });
  });

  test("a client that is not connected wants to be", async () => {
    const error = await rejectionOf(createRedisLedger({ client: createClient() }));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/^client: found .*not connected, wanted .*connect\(\)/);
  });
});

describe.skipIf(redisUrl === "")("what Redis refuses (left out without A2A_LEASE_REDIS_URL)", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
    await server.tell("ACL", "SETUSER", "reader", "on", ">hunter22", "~*", "+@all", "-@scripting");
    await server.tell("ACL", "SETUSER", "scripter", "on", ">hunter22", "~*", "+@all", "-hset", "-hmset");
  });
  afterAll(() => server.stop());
  const as = (user: string) => server.url.replace("//", `//${user}@`);

  test.each<[string, () => string]>([
    ["a wrong password", () => as("reader:wrong-one")],
    ["a database that is not there", () => `${server.url}/9999`],
    ["a user who may run no scripts", () => as("reader:hunter22")],
    ["a user who may write nothing", () => as("scripter:hunter22")],
  ])("%s", async (_what, url) => {
    const error = await rejectionOf(
      (async () => (await createRedisLedger({ url: url() })).write("k", taskRecord("t"), 0))(),
    );
    expect(error).toMatchObject({ ...refused, message: expect.stringContaining("; wanted ") });
    expect(JSON.stringify(error)).not.toMatch(/wrong-one|hunter22/);
  });

  test("a client without a password, where one is wanted", async () => {
    await server.tell("ACL", "SETUSER", "default", "resetpass", ">hunter22");
    const error = await rejectionOf((async () => (await createRedisLedger({ url: server.url })).read("k"))());
    expect(error).toMatchObject(refused);
  });
});
