import type { StreamResponse } from "../model/events.ts";
import type { SettleRule } from "./settle.ts";
import type { HeldStream } from "./shared-stream.ts";

/** A stream that was opened and read by somebody else until now. */
export interface BegunStream {
  readonly stream: HeldStream;
  /** What it gives from here on. */
  readonly events: AsyncIterator<StreamResponse>;
  /** Its first event, which was read. */
  readonly first: StreamResponse;
}

/** What a follower needs beside the caller's options. */
export interface FollowParts {
  /** Where it ends. */
  readonly settle: SettleRule;
  /** A stream that has begun already; it is read first. */
  readonly begun?: BegunStream;
  /** Whether the task is read before a stream is opened: where it is at rest, but may have gone on unseen. */
  readonly looksFirst?: boolean;
  /** Told whenever the task was seen, with or without news. */
  readonly onSeen?: (by: "stream" | "poll") => void;
  /** Aborted when the reader leaves; a wait for the next update ends then, as the sequence does. */
  readonly left?: AbortSignal;
}
