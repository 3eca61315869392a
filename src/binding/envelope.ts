import type { ResponseIssue } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import { describeValue } from "../model/issues.ts";
import { isRecord } from "../util/freeze.ts";
import { type RemoteFailure, readRemoteFailure } from "./remote-failure.ts";

/** What a JSON-RPC response says. */
export type Envelope =
  | { readonly kind: "error"; readonly failure: RemoteFailure }
  | { readonly kind: "result"; readonly result: unknown; readonly deviations: readonly Deviation[] }
  | { readonly kind: "none"; readonly issue: ResponseIssue };

/**
 * Reads a JSON-RPC response (9.5). An error counts whatever its id is, since a server that could not read a request has
 * none to give; a result counts only under the id of the request, `1` and `"1"` being the same.
 */
export function readEnvelope(wire: unknown, id: number): Envelope {
  if (!isRecord(wire)) return none("$", describeValue(wire), "a JSON-RPC response");
  if (wire.error !== undefined && wire.error !== null) {
    return { kind: "error", failure: readRemoteFailure(wire.error) };
  }
  if (!Object.hasOwn(wire, "result") && !Object.hasOwn(wire, "id")) {
    return none("$", "neither result nor error", "one of them");
  }
  const isOurs =
    (typeof wire.id === "string" || typeof wire.id === "number") && String(wire.id) === String(id);
  if (!isOurs) return none("$.id", describeValue(wire.id), `${id}, the id of the request`);
  return { kind: "result", result: wire.result, deviations: wire.jsonrpc === "2.0" ? [] : [versionOf(wire)] };
}

function none(path: string, found: string, wanted: string): Envelope {
  return { kind: "none", issue: { path, message: `found ${found}, wanted ${wanted}` } };
}

function versionOf({ jsonrpc }: Record<string, unknown>): Deviation {
  const message = `found ${describeValue(jsonrpc)}, wanted "2.0"`;
  return { kind: "wrong-jsonrpc-version", path: "$.jsonrpc", message };
}
