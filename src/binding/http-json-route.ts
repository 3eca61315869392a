import type { AgentInterface } from "../model/card.ts";
import type { OperationName, Operations } from "../model/operations.ts";
import type { JsonObject } from "../model/schema.ts";
import { hasLoneSurrogate } from "../util/json.ts";
import { writeBindingRequest } from "./body.ts";
import { writeJson } from "./json.ts";

/** Method of a request of HTTP+JSON. */
export type RouteMethod = "GET" | "POST" | "DELETE";

/** A request of HTTP+JSON as it leaves. */
export interface RoutedRequest {
  /** Method. */
  readonly method: RouteMethod;
  /** URL with all that the request has in its path and its query. */
  readonly url: string;
  /** JSON; only a POST has one. */
  readonly body?: string;
}

/** Where each operation lives (5.3, 11.3); a member in braces is bound by the path. */
const routes: { readonly [O in OperationName]: readonly [method: RouteMethod, path: string] } = {
  SendMessage: ["POST", "/message:send"],
  SendStreamingMessage: ["POST", "/message:stream"],
  GetTask: ["GET", "/tasks/{id}"],
  ListTasks: ["GET", "/tasks"],
  CancelTask: ["POST", "/tasks/{id}:cancel"],
  // The prose says POST (11.3.2), the proto says GET: whoever calls tries the other one where this one is not there.
  SubscribeToTask: ["POST", "/tasks/{id}:subscribe"],
  CreateTaskPushNotificationConfig: ["POST", "/tasks/{taskId}/pushNotificationConfigs"],
  GetTaskPushNotificationConfig: ["GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  ListTaskPushNotificationConfigs: ["GET", "/tasks/{taskId}/pushNotificationConfigs"],
  DeleteTaskPushNotificationConfig: ["DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  GetExtendedAgentCard: ["GET", "/extendedAgentCard"],
};

/**
 * Writes a request of HTTP+JSON (11.3 to 11.5): the path below the URL of the interface, behind its tenant where it has
 * one; what the path does not hold is the JSON of a POST, or the query of the other methods, in camelCase.
 *
 * @param method - another method than the operation's own.
 * @throws TypeError for an id that no path can hold, and for a value that JSON can't hold.
 */
export function routeRequest<O extends OperationName>(
  operation: O,
  request: Operations[O]["request"],
  target: AgentInterface,
  method: RouteMethod = routes[operation][0],
): RoutedRequest {
  const members = writeBindingRequest(operation, request, target.tenant);
  const bound = new Set<string>();
  const path = routes[operation][1].replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    bound.add(name);
    return segment(name, members[name]);
  });
  const { tenant } = members;
  const rest = Object.fromEntries(Object.entries(members).filter(([name]) => !bound.has(name)));
  const { base, query } = splitUrl(target.url);
  const url = `${base}${tenant === undefined ? "" : `/${segment("tenant", tenant)}`}${path}`;
  if (method === "POST") return { method, url: withQuery(url, [query]), body: writeJson(rest) };
  const { tenant: _inPath, ...asked } = rest;
  return { method, url: withQuery(url, [query, writeQuery(asked)]) };
}

/** The URL of an interface without the slashes at its end, and its query, which every request keeps. */
function splitUrl(url: string): { base: string; query: string } {
  const [whole = ""] = url.split("#");
  const [base = "", ...query] = whole.split("?");
  return { base: base.replace(/\/+$/, ""), query: query.join("?") };
}

function withQuery(url: string, queries: readonly string[]): string {
  const query = queries.filter((item) => item !== "").join("&");
  return query === "" ? url : `${url}?${query}`;
}

/** Nested objects have no place in a query (11.5), and no operation that is a GET or a DELETE has any. */
function writeQuery(members: JsonObject): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}=${escaped(name, String(value))}`)
    .join("&");
}

/** Whether a text can be one segment of a path. What a URL takes for a step, or for nothing, would call something else. */
export function isSegment(text: string): boolean {
  return text !== "" && text !== "." && text !== ".." && !hasLoneSurrogate(text);
}

function segment(name: string, value: unknown): string {
  if (typeof value !== "string" || !isSegment(value)) {
    throw new TypeError(
      `${name}: found ${JSON.stringify(value) ?? "nothing"}, which can't stand in the path of a URL`,
    );
  }
  return escaped(name, value);
}

function escaped(name: string, value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    throw new TypeError(`${name}: found half of a character, which no URL can hold`);
  }
}
