import { LimitExceededError } from "../errors/transport.ts";
import { type ArtifactFold, createArtifactFold } from "../lifecycle/artifacts.ts";
import type { Artifact } from "../model/artifact.ts";
import type { Deviation } from "../model/deviation.ts";
import type { TaskArtifactUpdateEvent } from "../model/events.ts";

/** One open stream of a task. */
export interface Feed {
  /** Says that it is over. */
  close(): void;
}

/** How a whole task was come by. */
export interface SnapshotFacts {
  /** Whether its artifacts could be left out, so that their absence says nothing. */
  readonly mayOmit: boolean;
  /** The stream that it came by. */
  readonly feed?: Feed | undefined;
  /** Whether it only repeats the status that is known. */
  readonly isReplay: boolean;
  /** Whether the task is over in it, so that it shows all there is. */
  readonly isOver: boolean;
  /** How many pieces had come when it was asked for. */
  readonly pieceCount?: number | undefined;
}

/** The outputs of a task, put together from whole tasks and from the pieces that a stream brings between them. */
export interface Outputs {
  /** The artifacts so far, frozen. */
  list(): readonly Artifact[];
  /** Pieces that came so far. */
  readonly pieceCount: number;
  /**
   * A stream of the task begins. Several that are open at once bring the same pieces, so each is put together by
   * itself, and the oldest one counts.
   */
  open(): Feed;
  /** Whether a whole task in a stream shows nothing that the stream did not bring already. */
  holds(artifacts: readonly Artifact[], feed: Feed): boolean;
  /** Takes what a whole task shows, unless the pieces of a stream know better. */
  take(artifacts: readonly Artifact[] | undefined, facts: SnapshotFacts): void;
  /** What is odd about a piece that is not taken yet. */
  oddityOf(piece: TaskArtifactUpdateEvent, feed: Feed): Deviation | undefined;
  /**
   * Takes a piece.
   *
   * @throws LimitExceededError when an agent streams without end.
   */
  add(piece: TaskArtifactUpdateEvent, feed: Feed): void;
}

/** Starts with the outputs that are known. */
export function createOutputs(initial: readonly Artifact[] | undefined, maxBytes: number): Outputs {
  const folds = new Map<Feed, ArtifactFold>();
  /** Streams that have brought a piece. */
  const growing = new Set<Feed>();
  let current = createArtifactFold(initial);
  let pieceCount = 0;

  const oldest = (): Feed | undefined => folds.keys().next().value;
  const foldOf = (feed: Feed | undefined) => (feed && folds.get(feed)) ?? current;

  function isOutrun(artifacts: readonly Artifact[] | undefined, facts: SnapshotFacts): boolean {
    const { feed = oldest() } = facts;
    if (artifacts === undefined && facts.mayOmit) return true;
    if (facts.isOver) return false;
    if (facts.pieceCount !== undefined && facts.pieceCount !== pieceCount) return true;
    if (!feed || !growing.has(feed)) return false;
    // What a read of the task is ahead of its stream by will come once more, as a piece.
    return !facts.feed || (facts.isReplay && foldOf(feed).holds(artifacts ?? []));
  }

  /** The oldest stream counts; after another one that was ahead of it, once it has caught up. */
  function follow(feed: Feed): void {
    const fold = foldOf(feed);
    if (feed === oldest() && fold !== current && fold.partCount >= current.partCount) current = fold;
  }

  return {
    list: () => current.list(),
    get pieceCount() {
      return pieceCount;
    },
    open() {
      const feed: Feed = {
        close() {
          folds.delete(feed);
          growing.delete(feed);
        },
      };
      folds.set(feed, folds.size === 0 ? current : createArtifactFold(current.list()));
      return feed;
    },
    holds: (artifacts, feed) => foldOf(feed).holds(artifacts),
    take(artifacts, facts) {
      if (isOutrun(artifacts, facts)) return;
      // The end of a task is the end of it in every stream.
      const targets = facts.isOver ? new Set([current, ...folds.values()]) : [foldOf(facts.feed)];
      for (const fold of targets) fold.replace(artifacts ?? []);
      if (facts.feed) follow(facts.feed);
    },
    oddityOf: (piece, feed) => foldOf(feed).oddityOf(piece),
    add(piece, feed) {
      growing.add(feed);
      if (feed === oldest()) pieceCount += 1;
      const fold = foldOf(feed);
      fold.add(piece);
      follow(feed);
      const { byteCount } = fold;
      if (byteCount > maxBytes)
        throw new LimitExceededError("responseBytes", maxBytes, `${byteCount} of artifacts`);
    },
  };
}
