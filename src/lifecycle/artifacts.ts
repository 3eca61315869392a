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
  const byId = new Map<string, Growing>();
  let listed: readonly Artifact[] | undefined;

  function replace(artifacts: readonly Artifact[]): void {
    byId.clear();
    for (const artifact of artifacts) {
      byId.set(artifact.artifactId, { artifact, parts: [...artifact.parts], isFinished: false });
    }
    listed = artifacts;
  }

  function add(update: TaskArtifactUpdateEvent): Deviation | undefined {
    const { artifact, append = false, lastChunk = false } = update;
    const known = byId.get(artifact.artifactId);
    listed = undefined;
    if (!known || !append) {
      byId.set(artifact.artifactId, { artifact, parts: [...artifact.parts], isFinished: lastChunk });
      return append
        ? oddity("append-to-unknown-artifact", artifact.artifactId, "an artifact to append to")
        : undefined;
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
      [...byId.values()].map(({ artifact, parts }) =>
        Object.freeze({ ...artifact, parts: Object.freeze([...parts]) }),
      ),
    );
    return listed;
  }

  replace(initial);
  return { replace, add, list };
}

function oddity(kind: string, artifactId: string, wanted: string): Deviation {
  return { kind, message: `found an append to artifact ${artifactId}, wanted ${wanted}` };
}
