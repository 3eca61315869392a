import { maxErrorText } from "../errors/base.ts";
import type { JsonObject } from "../model/schema.ts";
import { isRecord } from "../util/freeze.ts";
import { cut } from "../util/redact.ts";

/** An error object as the remote side wrote it: of JSON-RPC, or `google.rpc.Status` of HTTP+JSON and gRPC. */
export interface RemoteFailure {
  /** Its code, where it is an integer: of JSON-RPC, or an HTTP status. */
  readonly code?: number;
  /** Name of its status, `"NOT_FOUND"`; only `google.rpc.Status` has one. */
  readonly status?: string;
  /** Its message, bounded. */
  readonly message: string;
  /** Reasons of the `google.rpc.ErrorInfo` objects in its details. */
  readonly reasons: readonly ErrorReason[];
  /** Its details as sent, bounded. */
  readonly details: readonly JsonObject[];
}

/** What a `google.rpc.ErrorInfo` says. */
export interface ErrorReason {
  /** The reason, `"TASK_NOT_FOUND"`. */
  readonly reason: string;
  /** Who gives reasons their meaning, `"a2a-protocol.org"`; absent when not said. */
  readonly domain?: string;
}

const maxDetails = 20;

/**
 * Reads the `error` member of an answer (9.5, 11.6). Whatever it is, it becomes a failure: an object without a code, a
 * text, a list. What is kept of it is bounded before it is looked at any closer, and has all secrets in it still: who
 * makes an error of it strikes out those that are known first, since a redaction would take a part of them away.
 */
export function readRemoteFailure(error: unknown): RemoteFailure {
  const { code, status, message, data, details } = isRecord(error) ? error : { message: error };
  const listed = [data, details].flatMap(listOf).slice(0, maxDetails);
  const bounded = prune(listed, { left: maxErrorText }) as JsonObject[];
  return {
    ...codeOf(code),
    ...(typeof status === "string" ? { status: cut(status, 100) } : {}),
    message: messageOf(message),
    reasons: listed.flatMap(reasonOf),
    details: bounded,
  };
}

function codeOf(code: unknown): { code?: number } {
  const value = typeof code === "string" && /^-?\d{1,6}$/.test(code) ? Number(code) : code;
  return typeof value === "number" && Number.isInteger(value) ? { code: value } : {};
}

function messageOf(message: unknown): string {
  if (message === undefined || message === null || message === "") return "no message";
  const text = typeof message === "string" ? message : JSON.stringify(prune(message, { left: 500 }));
  return cut(text, 1000);
}

/** Details are a list by the spec; an object or a text in its place is kept as the one detail. */
function listOf(details: unknown): readonly JsonObject[] {
  if (details === undefined || details === null) return [];
  const list: readonly unknown[] = Array.isArray(details) ? details.slice(0, maxDetails) : [details];
  return list.map((item) => (isRecord(item) ? item : { value: item }));
}

function reasonOf({ reason, domain }: JsonObject): readonly ErrorReason[] {
  if (typeof reason !== "string" || reason === "") return [];
  return [{ reason: cut(reason, 100), ...(typeof domain === "string" ? { domain: cut(domain, 100) } : {}) }];
}

/** Copies JSON until the budget of characters is spent: what comes after it is left out, texts are cut. */
function prune(value: unknown, budget: { left: number }, depth = 0): unknown {
  if (typeof value === "string") {
    const kept = cut(value, Math.max(0, budget.left));
    budget.left -= kept.length;
    return kept;
  }
  budget.left -= 4;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= 8) return "…";
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (budget.left <= name.length) break;
    budget.left -= name.length;
    kept.push([name, prune(member, budget, depth + 1)]);
  }
  return Array.isArray(value) ? kept.map(([, member]) => member) : Object.fromEntries(kept);
}
