import type { A2ALeaseError } from "../errors/base.ts";
import { LimitExceededError, MalformedResponseError } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import { sha256HexOfText } from "../util/hash.ts";
import type { CallOptions } from "./call.ts";
import type { TaskHandle } from "./handle.ts";

/** A task of a page that could not be taken over: its handle shows what was known before. */
export interface TaskFailure {
  /** The task's handle. */
  readonly task: TaskHandle;
  /**
   * Why: `LifecycleMismatchError` when what the page shows of it breaks a rule; `CardDriftError` or
   * `LeaseUnverifiableError` when the task is pinned to another card than the client's plan, which no longer holds.
   */
  readonly error: A2ALeaseError;
}

/**
 * One page of tasks (3.1.4), newest status first, as the agent sorts them. Iterating gives the handles of this page and
 * of all pages after it, each once, and reads the pages on the way; it throws what {@link TaskPage.next} throws.
 */
export interface TaskPage extends AsyncIterable<TaskHandle> {
  /** Handles of the page's tasks. A task whose content could not be taken over is among them, and in `failures`. */
  readonly tasks: readonly TaskHandle[];
  /** Tasks whose content could not be taken over. One of them does not take the others along. */
  readonly failures: readonly TaskFailure[];
  /** Token of the next page; empty on the last. */
  readonly nextPageToken: string;
  /** Tasks a page, as the agent says. */
  readonly pageSize?: number;
  /** Tasks in all, as the agent says. */
  readonly totalSize?: number;
  /** What broke the spec and could be read: tasks that the filter excludes, for one, which are left out. */
  readonly deviations: readonly Deviation[];
  /**
   * Reads the next page with the same filters, with a check of the card alongside; `undefined` after the last one.
   *
   * @throws MalformedResponseError when the agent names a page that was read before; LimitExceededError after
   * `limits.pages` pages, or `limits.emptyPages` in a row without a task; otherwise as `client.listTasks` does.
   */
  next(options?: CallOptions): Promise<TaskPage | undefined>;
}

/** A page without its way to the next one. */
export type PageContent = Omit<TaskPage, "next" | typeof Symbol.asyncIterator>;

/** How one page after the other is read, and how far that may go. */
export interface Walk {
  /** Reads one page. */
  read(pageToken: string | undefined, options: CallOptions | undefined): Promise<PageContent>;
  /** Most pages of one listing. */
  readonly maxPages: number;
  /** Most pages in a row without a task. */
  readonly maxEmptyPages: number;
}

/** Where in a listing a page stands. */
interface Place {
  /** Hashes of the tokens that led here: a token may be of any length. */
  readonly tokens: readonly string[];
  readonly pageCount: number;
  /** Pages in a row without a task, this one included. */
  readonly emptyCount: number;
}

/** Reads the first page of a walk. */
export async function startWalk(
  walk: Walk,
  pageToken: string | undefined,
  options: CallOptions | undefined,
): Promise<TaskPage> {
  const content = await walk.read(pageToken, options);
  const tokens = pageToken === undefined ? [] : [sha256HexOfText(pageToken)];
  return createPage(walk, content, { tokens, pageCount: 1, emptyCount: content.tasks.length === 0 ? 1 : 0 });
}

function createPage(walk: Walk, content: PageContent, place: Place): TaskPage {
  const page: TaskPage = Object.freeze({
    ...content,
    async next(options?: CallOptions) {
      const { nextPageToken } = content;
      if (nextPageToken === "") return undefined;
      requireAhead(walk, place, nextPageToken);
      const following = await walk.read(nextPageToken, options);
      return createPage(walk, following, {
        tokens: [...place.tokens, sha256HexOfText(nextPageToken)],
        pageCount: place.pageCount + 1,
        emptyCount: following.tasks.length === 0 ? place.emptyCount + 1 : 0,
      });
    },
    [Symbol.asyncIterator]: () => tasksFrom(page, walk),
  });
  return page;
}

/** An agent may not lead in a circle, nor on and on without a task. */
function requireAhead({ maxPages, maxEmptyPages }: Walk, place: Place, nextPageToken: string): void {
  if (place.tokens.includes(sha256HexOfText(nextPageToken))) {
    const message = "found the token of a page that was read before, wanted another one or none";
    throw new MalformedResponseError([{ path: "$.nextPageToken", message }]);
  }
  if (place.pageCount >= maxPages) throw new LimitExceededError("pages", maxPages, "one more page");
  if (place.emptyCount >= maxEmptyPages) {
    throw new LimitExceededError("emptyPages", maxEmptyPages, "one more page");
  }
}

/** Each task once: a list that is sorted by its newest status moves while it is read. */
async function* tasksFrom(first: TaskPage, { maxEmptyPages }: Walk): AsyncGenerator<TaskHandle> {
  const told = new Set<string>();
  let barrenCount = 0;
  for (let page: TaskPage | undefined = first; page; page = await page.next()) {
    const fresh: TaskHandle[] = page.tasks.filter(({ id }) => !told.has(id));
    barrenCount = fresh.length === 0 ? barrenCount + 1 : 0;
    for (const task of fresh) {
      told.add(task.id);
      yield task;
    }
    if (page.nextPageToken !== "" && barrenCount >= maxEmptyPages) {
      throw new LimitExceededError("emptyPages", maxEmptyPages, "one more page without a new task");
    }
  }
}
