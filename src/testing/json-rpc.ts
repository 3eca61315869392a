import { isRecord } from "../util/freeze.ts";
import { parseJson } from "../util/json.ts";
import type { Dialect, ReadCall } from "./dialect.ts";

const unreadable = (id: unknown, code: number, message: string): ReadCall => ({
  kind: "unreadable",
  id,
  error: { code, message, data: undefined },
});

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The JSON-RPC 2.0 form of A2A 1.0 (spec 9). */
export const jsonRpc: Dialect = Object.freeze({
  mediaType: "application/json",
  errorStatus: () => 200,
  read({ method: verb, body }): ReadCall {
    if (verb !== "POST") return { kind: "absent", status: 405, headers: { allow: "POST" } };
    const envelope = parse(body);
    if (envelope === undefined) return unreadable(null, -32700, "Invalid JSON payload");
    if (!isRecord(envelope)) return unreadable(null, -32600, "Request payload validation error");
    const { jsonrpc, id = null, method, params = {} } = envelope;
    if (jsonrpc !== "2.0" || typeof method !== "string") {
      return unreadable(id, -32600, "Request payload validation error");
    }
    if (!isRecord(params)) return unreadable(id, -32602, "Invalid parameters");
    return { kind: "call", call: { id, operation: method, params } };
  },
  result: (id, value) => JSON.stringify({ jsonrpc: "2.0", id, result: value }),
  error: (id, { code, message, data }) =>
    JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }),
  // `google.protobuf.Empty` is `{}` in ProtoJSON; an answer that says nothing at all is no JSON-RPC, and so is null.
  deleted: (id, form) => ({
    status: 200,
    body: JSON.stringify({ jsonrpc: "2.0", id, result: form === "object" ? {} : null }),
  }),
} satisfies Dialect);
