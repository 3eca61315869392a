import { LedgerConflictError } from "../errors/ledger.ts";
import { deepFreeze } from "../util/freeze.ts";
import { checkOptions } from "../util/options.ts";
import {
  encodeKey,
  encodeRecord,
  entriesOf,
  entryOf,
  recordSchema,
  type StoredRow,
  wrongSchema,
} from "./codec.ts";
import { ledgerFacets } from "./facets.ts";
import { checkFunctions, checkUrl } from "./given.ts";
import { type ClosableLedger, createGuard, guardLedger, type LedgerStore } from "./guard.ts";
import { hashedText, type ResolvedQuery, recordId } from "./query.ts";
import { connectRedis, createRunner, type RedisClient, type ScriptRunner } from "./redis-connect.ts";
import { diagnoseRedis } from "./redis-failures.ts";
import { listScript, pruneScript, readScript, removeScript, writeScript } from "./redis-scripts.ts";
import {
  createSweeper,
  dropsAtMs,
  firstRevision,
  type ResolvedLedgerOptions,
  resolveLedgerOptions,
  type SharedLedgerOptions,
  sharedLedgerKinds,
} from "./retention.ts";

/** Where the server is, or a client that is connected to it; one of the two. */
export interface RedisLedgerOptions extends SharedLedgerOptions {
  /** `redis://user:password@host:port/database`. Connected to by `redis` (node-redis), an optional package. */
  readonly url?: string;
  /** A connected client instead. It is left open when the ledger is closed. */
  readonly client?: RedisClient;
  /**
   * Name of the ledger: what all of its keys begin with. In a cluster all of a ledger is on one node.
   *
   * @default "a2a-lease"
   */
  readonly name?: string;
}

/** A ledger in Redis. */
export type RedisLedger = ClosableLedger;

/**
 * Makes a ledger in Redis 6 or newer, for any number of processes on any number of machines. It is as durable as the
 * server is set up to be: an intent is safe across a crash of Redis only with `appendfsync always`, and a server that
 * may evict keys is none to keep records in.
 *
 * @throws LedgerUnavailableError when the server can't be reached; with the reason `refused` where waiting doesn't help:
 * the user or the password is wrong, or there is no such database; with the reason `peer-missing` where node-redis is not
 * installed.
 * @throws TypeError naming the option for a wrong option, a `url` that is none of Redis and a `client` that is not
 * connected too.
 */
export async function createRedisLedger(options: RedisLedgerOptions): Promise<RedisLedger> {
  checkOptions(options, { ...sharedLedgerKinds, url: "text", client: "object", name: "text" });
  const { url, client: given, name = "a2a-lease" } = options ?? {};
  if ((url === undefined) === (given === undefined)) {
    throw new TypeError("url, client: wanted exactly one of the two");
  }
  if (!/^[\w.:-]{1,100}$/.test(name)) {
    throw new TypeError("name: wanted at most 100 letters, digits and the characters _ . : -");
  }
  if (given !== undefined) checkClient(given);
  if (url !== undefined) checkUrl(url, ["redis://", "rediss://"], isReadable);
  const resolved = resolveLedgerOptions(options);
  const { client, close } = given ? { client: given, close: async () => {} } : await connectRedis(url ?? "");
  // The braces keep all keys of the ledger on one node of a cluster.
  const store = createRedisStore(createRunner(client), `{${name}}:`, { ...resolved, close });
  return { ...guardLedger(store, createGuard(diagnoseRedis)), shared: true };
}

/** Throws a TypeError for a client that is none, or that nobody connected; one that is between two connections is right. */
function checkClient(client: RedisClient): void {
  checkFunctions("client", client, ["evalSha", "eval"], "a connected client of redis");
  if ((client as { readonly isOpen?: unknown }).isOpen === false) {
    throw new TypeError("client: found one that is not connected, wanted await client.connect() first");
  }
}

function isReadable(url: string): boolean {
  return URL.canParse(url) && /^\/?\d*$/.test(new URL(url).pathname);
}

interface StoreOptions extends ResolvedLedgerOptions {
  readonly close: () => Promise<void>;
}

function createRedisStore(run: ScriptRunner, prefix: string, options: StoreOptions): LedgerStore {
  const { retentionMs, clock, random, close } = options;
  const nameOf = (key: string) => `${prefix}record:${recordId(key)}`;

  async function prune(): Promise<number> {
    let dropped = 0;
    for (;;) {
      const [looked, gone] = (await run(pruneScript, `${prefix}drops`, [
        prefix,
        `${clock.now()}`,
      ])) as number[];
      dropped += Number(gone);
      if (!looked) return dropped;
    }
  }
  const sweep = createSweeper(clock, prune);

  async function listSome(query: ResolvedQuery, after: string, limit: number) {
    const { kind, cardUrl, principal, contextId, states, fromMs, beforeMs } = query;
    const index = cardUrl === undefined ? `kind:${kind}` : `agent:${kind}:${hashedText(cardUrl)}`;
    const filters = [principal, contextId].map((text) => (text === undefined ? "*" : hashedText(text)));
    const reply = (await run(listScript, `${prefix}${index}`, [
      ...[prefix, after, `${limit}`, `${fromMs}`, `${beforeMs}`],
      ...filters,
      ...(states ?? []).map(encodeKey),
    ])) as [string, string, string[][]];
    const [end, last, records] = reply;
    const rows = records.map(
      ([revision, key = "", body = ""]): StoredRow => ({ key, revision: Number(revision), body }),
    );
    return { isEnd: end === "end", last, rows };
  }

  return {
    async read(key) {
      const [revision, , body] = (await run(readScript, nameOf(key), [])) as (string | null)[];
      if (revision === null && body === null) return undefined;
      return entryOf(key, { key, revision: Number(revision), body: body ?? "" });
    },
    async write(key, record, expectedRevision) {
      const facets = ledgerFacets(record);
      const { kind, updatedMs } = facets;
      const dropsAt = dropsAtMs(facets, retentionMs);
      const fields = {
        schema: `${record.schema}`,
        key: encodeKey(key),
        principal: hashedText(facets.principal),
        context: hashedText(facets.contextId),
        state: encodeKey(facets.state),
        updated: `${updatedMs}`,
        body: encodeRecord(record),
      };
      const [outcome, found] = (await run(writeScript, nameOf(key), [
        ...[prefix, `${expectedRevision}`, `${firstRevision(random)}`, `${recordSchema}`],
        `${kind}:${hashedText(facets.cardUrl)}:${recordId(key)}`,
        ...(dropsAt === undefined ? ["", ""] : [`${dropsAt}`, `${Math.ceil(retentionMs)}`]),
        ...Object.entries(fields).flat(),
      ])) as [string, string];
      if (outcome === "schema") throw wrongSchema(Number(found));
      if (outcome !== "written") {
        throw new LedgerConflictError(key, `found revision ${found}, wanted ${expectedRevision}`);
      }
      await sweep();
      return Object.freeze({ key, revision: Number(found), record: deepFreeze(record) });
    },
    async remove(key) {
      await run(removeScript, nameOf(key), [prefix]);
    },
    async list(query) {
      const { pageSize, pageToken = "" } = query;
      const rows: StoredRow[] = [];
      let after = pageToken;
      if (query.states?.length === 0) return Object.freeze({ entries: [], unreadable: [] });
      for (;;) {
        const some = await listSome(query, after, pageSize - rows.length);
        rows.push(...some.rows);
        after = some.last;
        if (some.isEnd) return Object.freeze(entriesOf(rows));
        if (rows.length >= pageSize) return Object.freeze({ ...entriesOf(rows), nextPageToken: after });
      }
    },
    prune,
    close,
  };
}
