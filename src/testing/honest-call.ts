import type { DeleteAnswer } from "./dialect.ts";
import type { TaskFeed } from "./task-feed.ts";

/** An event stream of one task; what honest streaming answers with. */
export interface LiveReply {
  readonly reply: "live";
  readonly feed: TaskFeed;
}

/** What only the honest agent answers with. */
export type OwnReply = LiveReply | { readonly reply: "deleted"; readonly form: DeleteAnswer };

/** A call that the honest agent is to answer. */
export interface HonestCall {
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** What the card in force declares. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The extended card, where there is one. */
  readonly extendedCard: unknown;
  /** What a deletion is answered with. */
  readonly deleteAnswer: DeleteAnswer;
}
