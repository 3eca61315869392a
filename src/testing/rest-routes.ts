import type { OperationName } from "../model/operations.ts";

/** What a method and a path under the base path come to. */
export type FoundRoute =
  | {
      readonly kind: "route";
      readonly operation: OperationName;
      /** What the path says: ids, and the tenant where one leads it. */
      readonly params: Readonly<Record<string, string>>;
    }
  | { readonly kind: "method"; readonly allow: string }
  | { readonly kind: "none" };

interface Route {
  readonly method: string;
  readonly operation: OperationName;
  /** Without and with a tenant in front, as the proto binds both. */
  readonly patterns: readonly [RegExp, RegExp];
}

/** A path segment that ends with no verb of a task. */
const id = (name: string) => `(?<${name}>[^/]+)(?<!:cancel|:subscribe)`;
const verb = (name: string) => `/tasks/(?<id>[^/]+):${name}`;
const configs = `/tasks/${id("taskId")}/pushNotificationConfigs`;

const route = (method: string, operation: OperationName, path: string): Route => ({
  method,
  operation,
  patterns: [new RegExp(`^${path}$`), new RegExp(`^/(?<tenant>[^/]+)${path}$`)],
});

/** The routes of 11.3. The prose subscribes by POST, `a2a.proto` by GET; both are known. */
const routes: readonly Route[] = [
  route("POST", "SendMessage", "/message:send"),
  route("POST", "SendStreamingMessage", "/message:stream"),
  route("GET", "ListTasks", "/tasks"),
  route("GET", "GetTask", `/tasks/${id("id")}`),
  route("POST", "CancelTask", verb("cancel")),
  route("GET", "SubscribeToTask", verb("subscribe")),
  route("POST", "SubscribeToTask", verb("subscribe")),
  route("POST", "CreateTaskPushNotificationConfig", configs),
  route("GET", "ListTaskPushNotificationConfigs", configs),
  route("GET", "GetTaskPushNotificationConfig", `${configs}/${id("id")}`),
  route("DELETE", "DeleteTaskPushNotificationConfig", `${configs}/${id("id")}`),
  route("GET", "GetExtendedAgentCard", "/extendedAgentCard"),
];

/** Finds the route of a raw path; segments are decoded only once it is found, so that an escaped "/" stays in its id. */
export function findRoute(
  method: string,
  path: string,
  isServed: (operation: OperationName, method: string) => boolean,
): FoundRoute {
  const found = [0, 1].flatMap((at) =>
    routes.flatMap((candidate) => {
      const match = candidate.patterns[at]?.exec(path);
      return match && isServed(candidate.operation, candidate.method) ? [{ ...candidate, match }] : [];
    }),
  );
  const taken = found.find((candidate) => candidate.method === method);
  if (taken) {
    const params = decode(taken.match.groups ?? {});
    return params ? { kind: "route", operation: taken.operation, params } : { kind: "none" };
  }
  if (found.length === 0) return { kind: "none" };
  return { kind: "method", allow: [...new Set(found.map((candidate) => candidate.method))].join(", ") };
}

function decode(groups: Readonly<Record<string, string | undefined>>): Record<string, string> | undefined {
  try {
    const entries = Object.entries(groups).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries.map(([name, value]) => [name, decodeURIComponent(value ?? "")]));
  } catch {
    return undefined;
  }
}
