/**
 * `a2a-lease/redis`: a ledger that processes share in Redis, through node-redis.
 *
 * @packageDocumentation
 */
export { createRedisLedger, type RedisLedger, type RedisLedgerOptions } from "./ledger/redis.ts";
export type { RedisClient, RedisScriptOptions } from "./ledger/redis-connect.ts";
export type { SharedLedgerOptions } from "./ledger/retention.ts";
