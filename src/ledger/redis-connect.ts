import { reasonText } from "../errors/base.ts";
import { sha1HexOfText } from "../util/sha1.ts";
import { ledgerFailure } from "./failures.ts";
import { loadPeer } from "./peer.ts";
import { diagnoseRedis } from "./redis-failures.ts";

/** Keys and arguments of a script. */
export interface RedisScriptOptions {
  /** Names that the script works on. */
  keys: string[];
  /** What else it is told. */
  arguments: string[];
}

/** What a ledger needs of a client: node-redis has it, for a server, a pool and a cluster. */
export interface RedisClient {
  /** Runs a script that the server has. */
  evalSha(sha1: string, options: RedisScriptOptions): Promise<unknown>;
  /** Runs a script. */
  eval(script: string, options: RedisScriptOptions): Promise<unknown>;
}

/** Runs one of our scripts on one key. */
export type ScriptRunner = (script: string, key: string, given: string[]) => Promise<unknown>;

/** Makes a runner: the script is named by its hash, and sent whole to a server that does not have it. */
export function createRunner(client: RedisClient): ScriptRunner {
  const hashes = new Map<string, string>();
  return async (script, key, given) => {
    const hash = hashes.get(script) ?? sha1HexOfText(script);
    hashes.set(script, hash);
    const options = { keys: [key], arguments: given };
    try {
      return await client.evalSha(hash, options);
    } catch (error) {
      if (!reasonText(error).startsWith("NOSCRIPT")) throw error;
      return await client.eval(script, options);
    }
  };
}

/** How long a connection may take to come about, and the longest pause before the next try, in milliseconds. */
const connectMs = 5_000;
const longestPauseMs = 2_000;

/**
 * Connects to a server. A connection that is lost later is made again; meanwhile every command fails at once.
 *
 * @throws LedgerUnavailableError.
 */
export async function connectRedis(url: string): Promise<{ client: RedisClient; close(): Promise<void> }> {
  const { createClient } = await loadPeer("redis", "^5", () => import("redis"));
  let wasReady = false;
  try {
    const client = createClient({
      url,
      disableOfflineQueue: true,
      socket: {
        connectTimeout: connectMs,
        reconnectStrategy: (tries) => wasReady && Math.min(50 * 2 ** Math.min(tries, 10), longestPauseMs),
      },
    });
    // Commands tell of their own failures; without a listener a lost connection would end the process.
    client.on("error", () => {});
    client.on("ready", () => {
      wasReady = true;
    });
    await client.connect();
    return {
      client,
      async close() {
        if (client.isReady) await client.close();
        else client.destroy();
      },
    };
  } catch (error) {
    throw ledgerFailure("connect to Redis", error, diagnoseRedis);
  }
}
