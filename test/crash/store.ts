import Libsql from "libsql";
import type { Ledger } from "../../src/index.ts";
import { createRedisLedger } from "../../src/redis.ts";
import { createPostgresLedger, createSqliteLedger } from "../../src/sql.ts";

/** A store that two processes open: what it is, and where. */
export interface StorePlace {
  readonly kind: "sqlite" | "postgres" | "redis";
  /** The path of a file, or the URL of a server. */
  readonly at: string;
  /** What keeps one test apart from the others on a server. */
  readonly name: string;
}

/** Opens a store. */
export async function openStore({
  kind,
  at,
  name,
}: StorePlace): Promise<Ledger & { close(): Promise<void> }> {
  if (kind === "redis") return createRedisLedger({ url: at, name });
  if (kind === "sqlite") return createSqliteLedger({ database: new Libsql(at) as never });
  const { Pool } = (await import("pg")).default;
  return createPostgresLedger({
    pool: new Pool({ connectionString: at, options: `-c search_path=${name}`, max: 3 }),
  });
}
