import { LedgerUnavailableError } from "a2a-lease";
import { createRedisLedger, type RedisClient } from "a2a-lease/redis";
import { createClient } from "redis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { recordId } from "../../src/ledger/query.ts";
import { intentRecord, seenTask, taskRecord } from "../../src/testing/ledger-records.ts";
import { rejectionOf } from "../card/cards.ts";
import { freshName, redisUrl } from "./stores.ts";

const connect = () => createClient({ url: redisUrl }).connect();

describe.skipIf(redisUrl === "")("a ledger in Redis (left out without A2A_LEASE_REDIS_URL)", () => {
  let client: Awaited<ReturnType<typeof connect>>;
  let name: string;
  beforeEach(async () => {
    client = await connect();
    name = freshName();
  });
  afterEach(() => client.close());
  const place = (key: string) => `{${name}}:record:${recordId(key)}`;

  test("lets what is over expire by itself, and nothing that is open", async () => {
    const ledger = await createRedisLedger({ client, name, retentionMs: 60_000 });
    const open = await ledger.write("k", taskRecord("k"), 0);
    expect(await client.pTTL(place("k"))).toBe(-1);
    const done = await ledger.write("k", seenTask("k", "TASK_STATE_COMPLETED"), open.revision);
    expect(await client.pTTL(place("k"))).toBeGreaterThan(50_000);
    await ledger.write("k", seenTask("k", "TASK_STATE_WORKING"), done.revision);
    expect(await client.pTTL(place("k"))).toBe(-1);
  });

  test("takes what expired out of its listings and their indexes", async () => {
    const ledger = await createRedisLedger({ client, name });
    for (const key of ["a", "b"]) await ledger.write(key, intentRecord(key), 0);
    await client.del(place("a"));
    const { entries } = await ledger.list({ kind: "intent" });
    expect(entries.map(({ key }) => key)).toEqual(["b"]);
    expect(await client.zCard(`{${name}}:kind:intent`)).toBe(1);
  });

  test("has all its keys on one node of a cluster, and leaves none when all is removed", async () => {
    const ledger = await createRedisLedger({ client, name });
    await ledger.write("k", seenTask("k", "TASK_STATE_COMPLETED"), 0);
    const all = await client.keys(`*${name}*`);
    expect(all.length).toBeGreaterThan(3);
    expect(all.filter((key) => !key.startsWith(`{${name}}:`))).toEqual([]);
    await ledger.remove("k");
    expect(await client.keys(`*${name}*`)).toEqual([]);
  });

  test("goes on with a server that has forgotten its scripts", async () => {
    let sent = 0;
    const forgetful: RedisClient = {
      evalSha: (_hash, options) => client.evalSha("0".repeat(40), options),
      eval: (script, options) => {
        sent++;
        return client.eval(script, options);
      },
    };
    const ledger = await createRedisLedger({ client: forgetful, name });
    await ledger.write("k", taskRecord("k"), 0);
    expect((await ledger.read("k"))?.record).toEqual(taskRecord("k"));
    expect(sent).toBe(2);
  });

  test("leaves a client that it was given open", async () => {
    const ledger = await createRedisLedger({ client, name });
    await ledger.close();
    expect(await client.ping()).toBe("PONG");
  });
});

test("a server that is not there is a ledger error that names no password", async () => {
  const error = await rejectionOf(createRedisLedger({ url: "redis://me:hunter22@127.0.0.1:1" }));
  expect(error).toBeInstanceOf(LedgerUnavailableError);
  expect(JSON.stringify(error)).not.toContain("hunter22");
});

test.each<[string, object]>([
  ["url, client", {}],
  ["name", { url: "redis://127.0.0.1:1", name: "{a}" }],
  ["retentionMs", { url: "redis://127.0.0.1:1", retentionMs: Number.NaN }],
])("an option that is none is a TypeError that names %s", async (name, options) => {
  const error = await rejectionOf(createRedisLedger(options));
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toContain(name);
});
