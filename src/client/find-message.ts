import { A2ALeaseError } from "../errors/base.ts";
import { InvalidParamsError, MethodNotFoundError, UnsupportedOperationError } from "../errors/protocol.ts";
import { HttpStatusError } from "../errors/transport.ts";
import type { Message } from "../model/message.ts";
import type { RecoveryGap } from "../model/recovery.ts";
import type { ListTasksRequest, ListTasksResponse } from "../model/requests.ts";
import type { Task } from "../model/task.ts";
import { defined } from "../util/freeze.ts";
import type { Call, CallOptions } from "./call.ts";
import { callOnce, type Passage } from "./pipeline.ts";
import type { LeaseHolder, Session } from "./session.ts";

/** A walk over the tasks of an agent, in search of one message. */
export interface MessageSearch {
  readonly messageId: string;
  readonly contextId?: string;
  /** Only tasks whose status is at least as new, RFC 3339. */
  readonly after?: string;
  /** Most pages that are read. */
  readonly maxPages: number;
  readonly holder: LeaseHolder;
  readonly options: CallOptions;
  /** Whether each page is asked for once, come what may. */
  readonly isOnce?: boolean;
  /** Whether another message that an agent shows is one of ours. */
  readonly isOurs: (messageId: string) => Promise<boolean>;
  /** Takes the task over, before anybody sees it. */
  readonly take: (task: Task, forceCheck: Passage<unknown>["forceCheck"]) => Promise<void>;
}

/** What a walk came to. */
export type SearchResult =
  | { readonly outcome: "found"; readonly taskId: string }
  /** Not among the tasks, all of which were seen, with other messages of ours in them. */
  | { readonly outcome: "absent" }
  | { readonly outcome: "gap"; readonly gap: RecoveryGap };

/** Tasks a page, and messages of each. */
const pageSize = 50;
const historyLength = 50;

/**
 * Looks for a message in the histories of an agent's tasks (3.1.4).
 *
 * @throws CardDriftError and LeaseUnverifiableError; the transport errors; the ledger errors.
 */
export async function findMessage(session: Session, search: MessageSearch): Promise<SearchResult> {
  const seenTokens = new Set<string>();
  let gap: RecoveryGap | undefined;
  let hasEvidence = false;
  let pageToken: string | undefined;

  for (let page = 0; page < search.maxPages; page++) {
    const { contextId, after } = search;
    const request: ListTasksRequest = {
      pageSize,
      historyLength,
      ...defined({ contextId, statusTimestampAfter: after, pageToken }),
    };
    let found: string | undefined;
    let listed: ListTasksResponse;
    try {
      listed = await readPage(session, search, request, async (passage) => {
        const { value } = passage.answer;
        const task = value.tasks.find((item) => shows(item, search.messageId));
        if (task) await search.take(task, passage.forceCheck);
        found = task?.id;
        return value;
      });
    } catch (error) {
      if (hasNoListing(error)) return { outcome: "gap", gap: "no-listing" };
      throw error;
    }
    if (found !== undefined) return { outcome: "found", taskId: found };
    for (const task of listed.tasks) {
      const shown = messagesOf(task);
      if (isOpaque(task, shown)) gap = "no-history";
      for (const { messageId } of hasEvidence ? [] : shown) hasEvidence ||= await search.isOurs(messageId);
    }
    const { nextPageToken } = listed;
    if (nextPageToken === "") {
      if (gap) return { outcome: "gap", gap };
      return hasEvidence ? { outcome: "absent" } : { outcome: "gap", gap: "no-evidence" };
    }
    // An agent that leads in circles has no end.
    if (seenTokens.has(nextPageToken)) break;
    seenTokens.add(nextPageToken);
    pageToken = nextPageToken;
  }
  return { outcome: "gap", gap: "incomplete" };
}

function readPage<T>(
  session: Session,
  { holder, options, isOnce = false }: MessageSearch,
  request: ListTasksRequest,
  visit: (passage: Passage<{ readonly value: ListTasksResponse }>) => Promise<T>,
): Promise<T> {
  const call: Call<"ListTasks"> = {
    operation: "ListTasks",
    request,
    holder,
    requirements: {},
    options,
    knowsTask: false,
    isOnce,
    // No card says whether an agent lists its tasks, so one that does not is no sign of another card.
    explains: async (error) => hasNoListing(error),
  };
  return callOnce(session, call, visit);
}

/** Whether an error says that the agent lists no tasks, or not by these filters. */
function hasNoListing(error: unknown): boolean {
  if (error instanceof HttpStatusError) return [404, 405, 501].includes(error.status);
  const kinds = [MethodNotFoundError, UnsupportedOperationError, InvalidParamsError];
  return error instanceof A2ALeaseError && kinds.some((kind) => error instanceof kind);
}

/** The messages of ours that a task shows; agents repeat them in the status of a task too. */
function messagesOf({ history = [], status }: Task): readonly Message[] {
  return [...history, ...(status.message ? [status.message] : [])].filter(
    ({ role }) => role !== "ROLE_AGENT",
  );
}

function shows(task: Task, messageId: string): boolean {
  return messagesOf(task).some((message) => message.messageId === messageId);
}

/** Whether a task could hold the message unseen: it shows no message of ours, or not all of its history. */
function isOpaque({ history = [] }: Task, shown: readonly Message[]): boolean {
  return shown.length === 0 || history.length >= historyLength;
}
