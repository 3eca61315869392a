import { LimitExceededError, MalformedResponseError } from "../errors/transport.ts";
import type { ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig } from "../model/push.ts";
import type { CallOptions } from "./call.ts";

/** Options of listing push configurations. */
export interface ListPushConfigsOptions extends CallOptions {
  /** Configurations a page at most. @default the agent's */
  readonly pageSize?: number;
  /** Token of the page, from the page before. @default the first page */
  readonly pageToken?: string;
}

/**
 * One page of push configurations. Iterating it gives those of this page and of all that come after it, which are read
 * as they are asked for, each with its check of the card. It ends with a LimitExceededError after `limits.pages` pages,
 * or `limits.emptyPages` in a row without a configuration.
 */
export interface PushConfigPage extends AsyncIterable<TaskPushNotificationConfig> {
  /** The configurations of this page, as the agent shows them; some show their secrets. */
  readonly configs: readonly TaskPushNotificationConfig[];
  /** Token of the next page; there is none on the last. */
  readonly nextPageToken?: string;
}

type Page = ListTaskPushNotificationConfigsResponse;

/** How one page after the other is read, and how far that may go. */
export interface PushWalk {
  /** Reads one page. */
  readonly read: (pageToken: string) => Promise<Page>;
  /** Most pages. */
  readonly maxPages: number;
  /** Most pages in a row without a configuration. */
  readonly maxEmptyPages: number;
}

/** Makes a page that reads those after it when it is iterated. */
export function createPushPage(first: Page, { read, maxPages, maxEmptyPages }: PushWalk): PushConfigPage {
  async function* all(): AsyncGenerator<TaskPushNotificationConfig> {
    const seen = new Set<string>();
    let emptyCount = 0;
    for (let page = first; ; ) {
      yield* page.configs;
      const token = page.nextPageToken;
      if (!token) return;
      emptyCount = page.configs.length === 0 ? emptyCount + 1 : 0;
      if (emptyCount >= maxEmptyPages)
        throw new LimitExceededError("emptyPages", maxEmptyPages, "one more page");
      if (seen.size + 1 >= maxPages) throw new LimitExceededError("pages", maxPages, "one more page");
      if (seen.has(token)) {
        const message = "found a page token for the second time, wanted another one or none";
        throw new MalformedResponseError([{ path: "$.nextPageToken", message }]);
      }
      seen.add(token);
      page = await read(token);
    }
  }

  const { configs, nextPageToken } = first;
  return Object.freeze({
    configs,
    ...(nextPageToken ? { nextPageToken } : {}),
    [Symbol.asyncIterator]: all,
  });
}
