import type { OperationName } from "../model/operations.ts";
import { isRecord } from "../util/freeze.ts";
import { parseJson } from "../util/json.ts";
import type { Dialect, ReadCall } from "./dialect.ts";
import type { AgentRequest } from "./exchange.ts";
import { findRoute } from "./rest-routes.ts";
import type { ResolvedSettings } from "./settings.ts";

/** Query parameters that are no texts (11.5). */
const numbers: ReadonlySet<string> = new Set(["historyLength", "pageSize"]);
const booleans: ReadonlySet<string> = new Set(["includeArtifacts"]);

/** HTTP status and canonical name of the errors of 5.4 and of JSON-RPC. */
const statuses: Readonly<Record<number, readonly [number, string]>> = Object.freeze({
  [-32001]: [404, "NOT_FOUND"],
  [-32002]: [400, "FAILED_PRECONDITION"],
  [-32003]: [400, "FAILED_PRECONDITION"],
  [-32004]: [400, "FAILED_PRECONDITION"],
  [-32005]: [400, "INVALID_ARGUMENT"],
  [-32006]: [500, "INTERNAL"],
  [-32007]: [400, "FAILED_PRECONDITION"],
  [-32008]: [400, "FAILED_PRECONDITION"],
  [-32009]: [400, "FAILED_PRECONDITION"],
  [-32600]: [400, "INVALID_ARGUMENT"],
  [-32601]: [501, "UNIMPLEMENTED"],
  [-32602]: [400, "INVALID_ARGUMENT"],
  [-32700]: [400, "INVALID_ARGUMENT"],
});

const statusOf = (code: number) => statuses[code] ?? ([500, "INTERNAL"] as const);

const unreadable = (code: number, message: string, httpStatus?: number): ReadCall => ({
  kind: "unreadable",
  id: undefined,
  error: { code, message, data: undefined },
  ...(httpStatus === undefined ? {} : { httpStatus }),
});

/** Makes the HTTP+JSON form of A2A 1.0 (spec 11) under one base path; `""` is the root. */
export function createHttpJson(basePath: string, settings: () => ResolvedSettings): Dialect {
  const isServed = (operation: OperationName, method: string) =>
    operation !== "SubscribeToTask" || settings().subscribeMethods.some((served) => served === method);

  function read(request: AgentRequest): ReadCall {
    const { pathname, searchParams } = new URL(request.url);
    const path = pathname.slice(basePath.length);
    const found = findRoute(request.method, path, isServed);
    if (found.kind === "none") return { kind: "absent", status: 404, headers: {} };
    if (found.kind === "method") {
      const isHidden = path.endsWith(":subscribe") && settings().refusedMethodStatus === 404;
      return isHidden
        ? { kind: "absent", status: 404, headers: {} }
        : { kind: "absent", status: 405, headers: { allow: found.allow } };
    }
    const { operation, params } = found;
    if (request.method !== "POST") return callOf(operation, { ...queryOf(searchParams), ...params });
    if (request.body === "") return callOf(operation, params);
    if (!isJson(request.headers["content-type"])) return unreadable(-32600, "Unsupported media type", 415);
    const body = parse(request.body);
    if (body === undefined) return unreadable(-32700, "Invalid JSON payload");
    if (!isRecord(body)) return unreadable(-32600, "Request payload validation error");
    // What the path binds is not the body's to say (google.api.http).
    return callOf(operation, { ...body, ...params });
  }

  return Object.freeze({
    read,
    get mediaType() {
      return settings().restMediaType;
    },
    errorStatus: (code: number) => statusOf(code)[0],
    result: (_id: unknown, value: unknown) => JSON.stringify(value),
    error: (_id, { code, message, data }, httpStatus) =>
      JSON.stringify({
        error: {
          code: httpStatus ?? statusOf(code)[0],
          status: statusOf(code)[1],
          message,
          ...(data === undefined ? {} : { details: data }),
        },
      }),
    deleted(_id, form) {
      if (form === "no-content") return { status: 204, body: "" };
      return { status: 200, body: form === "empty" ? "" : "{}" };
    },
  } satisfies Dialect);
}

function callOf(operation: OperationName, params: Readonly<Record<string, unknown>>): ReadCall {
  return { kind: "call", call: { id: undefined, operation, params } };
}

function queryOf(query: URLSearchParams): Record<string, unknown> {
  const entries = [...query].filter(([name]) => name !== "A2A-Version");
  return Object.fromEntries(entries.map(([name, value]) => [name, typed(name, value)]));
}

/** What can't be read stays a text, for the operation to refuse. */
function typed(name: string, value: string): unknown {
  if (numbers.has(name) && /^-?\d+$/.test(value)) return Number(value);
  if (booleans.has(name) && /^(true|false)$/.test(value)) return value === "true";
  return value;
}

function isJson(contentType = ""): boolean {
  return /^application\/(a2a\+)?json\s*(;|$)/i.test(contentType.trim());
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
