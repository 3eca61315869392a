import type { Artifact } from "../model/artifact.ts";
import type { Deviation } from "../model/deviation.ts";
import type { TaskArtifactUpdateEvent } from "../model/events.ts";
import type { Part } from "../model/part.ts";

interface Growing {
  artifact: Artifact;
  parts: Part[];
  isFinished: boolean;
}

/** Artifacts that grow piece by piece. A piece is added in constant time; the whole is made when it is asked for. */
export interface ArtifactFold {
  /** Starts again from a snapshot. */
  replace(artifacts: readonly Artifact[]): void;
  /** Takes one piece; what is odd about it is returned. */
  add(update: TaskArtifactUpdateEvent): Deviation | undefined;
  /** The artifacts so far, frozen, in order of appearance. */
  list(): readonly Artifact[];
}

/** Makes an {@link ArtifactFold}. */
export function createArtifactFold(initial: readonly Artifact[] = []): ArtifactFold {
  let growing: Growing[] = [];
  const byId = new Map<string, Growing>();
  let listed: readonly Artifact[] | undefined;

  function replace(artifacts: readonly Artifact[]): void {
    byId.clear();
    // An id that is there twice breaks the spec; both are kept, and the later one grows.
    growing = artifacts.map((artifact) => startOf(artifact, false));
    for (const item of growing) byId.set(item.artifact.artifactId, item);
    listed = undefined;
  }

  function add(update: TaskArtifactUpdateEvent): Deviation | undefined {
    const { artifact, append = false, lastChunk = false } = update;
    const known = byId.get(artifact.artifactId);
    listed = undefined;
    if (!known) {
      const started = startOf(artifact, lastChunk);
      growing.push(started);
      byId.set(artifact.artifactId, started);
      return append
        ? oddity("append-to-unknown-artifact", artifact.artifactId, "an artifact to append to")
        : undefined;
    }
    if (!append) {
      Object.assign(known, startOf(artifact, lastChunk));
      return undefined;
    }
    const wasFinished = known.isFinished;
    for (const part of artifact.parts) known.parts.push(part);
    // 4.2.2: later pieces may say more of the artifact; what they leave out stays.
    known.artifact = { ...known.artifact, ...artifact };
    known.isFinished ||= lastChunk;
    return wasFinished
      ? oddity("append-after-last-chunk", artifact.artifactId, "nothing after lastChunk (4.2.2)")
      : undefined;
  }

  function list(): readonly Artifact[] {
    listed ??= Object.freeze(
      growing.map(({ artifact, parts }) => Object.freeze({ ...artifact, parts: Object.freeze([...parts]) })),
    );
    return listed;
  }

  replace(initial);
  return { replace, add, list };
}

function startOf(artifact: Artifact, isFinished: boolean): Growing {
  return { artifact, parts: [...artifact.parts], isFinished };
}

function oddity(kind: string, artifactId: string, wanted: string): Deviation {
  return { kind, message: `found an append to artifact ${artifactId}, wanted ${wanted}` };
}
