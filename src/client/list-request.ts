import type { ListTasksRequest } from "../model/requests.ts";
import { taskStates } from "../model/states.ts";
import { isoTime, parseTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { checkHistoryLength } from "./history-length.ts";

/** Most tasks that may be asked for in one page (3.1.4). */
const largestPageSize = 100;

type Check = (value: unknown) => string | undefined;

/** RFC 3339 wants to know the zone; a time without one would be read by the clock of this machine. */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** What each filter has to be; one that is misspelt would not filter. */
const checks: Readonly<Record<keyof ListTasksRequest, Check>> = Object.freeze({
  // An empty context is none on the wire, and none is all of them.
  contextId: (value) => (typeof value === "string" && value !== "" ? undefined : "a text that is not empty"),
  pageToken: (value) => (typeof value === "string" ? undefined : "a text"),
  status: (value) => (taskStates.some((state) => state === value) ? undefined : "a state of A2A 1.0"),
  pageSize: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= largestPageSize
      ? undefined
      : `a whole number from 1 to ${largestPageSize}`,
  historyLength: () => undefined,
  statusTimestampAfter: (value) =>
    typeof value === "string" && time.test(value) && parseTime(value) !== undefined
      ? undefined
      : "an RFC 3339 time with its zone",
  includeArtifacts: (value) => (typeof value === "boolean" ? undefined : "true or false"),
});

/**
 * Checks what is asked of a listing and makes the request of it: times in UTC (5.6.1), and what is not given not there.
 *
 * @throws TypeError naming the filter.
 */
export function createListRequest(given: ListTasksRequest): ListTasksRequest {
  checkHistoryLength(given.historyLength);
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, name)) {
      throw new TypeError(
        `listTasks: found the filter ${name}, wanted some of ${Object.keys(checks).join(", ")}`,
      );
    }
    const wanted = value === undefined ? undefined : checks[name as keyof ListTasksRequest](value);
    if (wanted !== undefined) throw new TypeError(`${name}: found ${String(value)}, wanted ${wanted}`);
  }
  const { statusTimestampAfter: after, pageToken } = given;
  const afterMs = after === undefined || after.endsWith("Z") ? undefined : parseTime(after);
  return Object.freeze(
    defined({
      ...given,
      pageToken: pageToken === "" ? undefined : pageToken,
      statusTimestampAfter: afterMs === undefined ? after : isoTime(afterMs),
    }),
  );
}
