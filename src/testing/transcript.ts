import type { Clock } from "../util/clock.ts";
import type { AgentRequest } from "./exchange.ts";

/** What came of a request: still open, answered, dropped, refused, or given up by the caller. */
export type TranscriptOutcome = "open" | "answered" | "reset" | "refused" | "aborted";

/** One request that reached the agent. */
export interface TranscriptEntry {
  /** Position in the agent's life, from 1; `clearTranscript` does not start it over. */
  readonly step: number;
  /** Wall time on the agent's clock when it arrived, in milliseconds. */
  readonly at: number;
  /**
   * A card read (a GET that no HTTP+JSON route can be at), a call (every other request), or a request for another
   * origin, which nobody answers.
   */
  readonly kind: "card" | "call" | "foreign";
  /** HTTP method. */
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  /** Path with query. */
  readonly path: string;
  /** Headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Operation that was called: the method as it was sent, or what its HTTP+JSON route stands for. */
  readonly operation?: string;
  /** Parameters of the call, as they were sent; over HTTP+JSON with those of the path and the query. */
  readonly params?: unknown;
  /** Card reads: whether the request named no validator, so that only a whole card answers it. */
  readonly fullRead?: boolean;
  /** Card reads: whether it was a full read with `Cache-Control: no-cache`. */
  readonly forced?: boolean;
  /** Status of the answer, once its head was sent. */
  readonly status?: number;
  /** What came of it. */
  readonly outcome: TranscriptOutcome;
}

/** An entry while its request is under way. */
export type OpenEntry = { -readonly [K in keyof TranscriptEntry]: TranscriptEntry[K] };

/** Everything that reached an agent, in order. */
export interface Transcript {
  /** Adds a request. */
  open(request: AgentRequest, kind: TranscriptEntry["kind"]): OpenEntry;
  /** The entries as they are now. */
  entries(): readonly TranscriptEntry[];
  /** Forgets all entries. */
  clear(): void;
}

/** Makes an empty transcript. */
export function createTranscript(clock: Clock): Transcript {
  let entries: OpenEntry[] = [];
  let lastStep = 0;
  return {
    open(request, kind) {
      const { method, url, path, headers } = request;
      lastStep += 1;
      const entry: OpenEntry = {
        step: lastStep,
        at: clock.now(),
        kind,
        method,
        url,
        path,
        headers,
        outcome: "open",
      };
      if (kind === "card") {
        entry.fullRead = !("if-none-match" in headers) && !("if-modified-since" in headers);
        entry.forced = entry.fullRead && asksPastCaches(headers);
      }
      entries.push(entry);
      return entry;
    },
    entries: () => entries.map((entry) => Object.freeze({ ...entry })),
    clear() {
      entries = [];
    },
  };
}

/** Whether a request says `Cache-Control: no-cache`. */
export function asksPastCaches(headers: Readonly<Record<string, string>>): boolean {
  return /(^|,)\s*no-cache\s*(,|$)/i.test(headers["cache-control"] ?? "");
}
