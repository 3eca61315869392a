import type { Artifact } from "../model/artifact.ts";
import type { Deviation } from "../model/deviation.ts";
import type { TaskArtifactUpdateEvent } from "../model/events.ts";
import type { Part } from "../model/part.ts";
import { canonicalJson } from "../util/json.ts";

interface Growing {
  artifact: Artifact;
  parts: Part[];
  isFinished: boolean;
  /** The whole of it, until it grows again. */
  listed?: Artifact;
}

/** Artifacts that grow piece by piece. A piece is added in constant time; the whole is made when it is asked for. */
export interface ArtifactFold {
  /** Starts again from a snapshot. */
  replace(artifacts: readonly Artifact[]): void;
  /** What is odd about a piece that is not taken yet. */
  oddityOf(update: TaskArtifactUpdateEvent): Deviation | undefined;
  /** Takes one piece. */
  add(update: TaskArtifactUpdateEvent): void;
  /** How many parts there are in all. */
  readonly partCount: number;
  /** How many bytes their content has, about. */
  readonly byteCount: number;
  /** Whether a snapshot shows nothing that is not here already. */
  holds(artifacts: readonly Artifact[]): boolean;
  /** The artifacts so far, frozen, in order of appearance. */
  list(): readonly Artifact[];
}

/** Makes an {@link ArtifactFold}. */
export function createArtifactFold(initial: readonly Artifact[] = []): ArtifactFold {
  let growing: Growing[] = [];
  const byId = new Map<string, Growing>();
  let listed: readonly Artifact[] | undefined;
  let byteCount = 0;

  function replace(artifacts: readonly Artifact[]): void {
    byId.clear();
    // An id that is there twice breaks the spec; both are kept, and the later one grows.
    growing = artifacts.map((artifact) => startOf(artifact, false));
    for (const item of growing) byId.set(item.artifact.artifactId, item);
    byteCount = growing.reduce((count, { parts }) => count + bytesOf(parts), 0);
    listed = undefined;
  }

  function oddityOf({ artifact: { artifactId }, append }: TaskArtifactUpdateEvent): Deviation | undefined {
    if (!append) return undefined;
    const known = byId.get(artifactId);
    if (!known) return oddity("append-to-unknown-artifact", artifactId, "an artifact to append to");
    return known.isFinished
      ? oddity("append-after-last-chunk", artifactId, "nothing after lastChunk (4.2.2)")
      : undefined;
  }

  function add({ artifact, append = false, lastChunk = false }: TaskArtifactUpdateEvent): void {
    const known = byId.get(artifact.artifactId);
    listed = undefined;
    byteCount += bytesOf(artifact.parts);
    if (!known) {
      const started = startOf(artifact, lastChunk);
      growing.push(started);
      byId.set(artifact.artifactId, started);
    } else if (append) {
      for (const part of artifact.parts) known.parts.push(part);
      // 4.2.2: later pieces may say more of the artifact; what they leave out stays.
      known.artifact = { ...known.artifact, ...artifact };
      known.isFinished ||= lastChunk;
      delete known.listed;
    } else {
      byteCount -= bytesOf(known.parts);
      delete known.listed;
      Object.assign(known, startOf(artifact, lastChunk));
    }
  }

  function holds(artifacts: readonly Artifact[]): boolean {
    return artifacts.every(({ artifactId, parts }) => {
      const known = byId.get(artifactId);
      return known !== undefined && isPrefix(parts, known.parts);
    });
  }

  function list(): readonly Artifact[] {
    listed ??= Object.freeze(growing.map(wholeOf));
    return listed;
  }

  replace(initial);
  return {
    replace,
    oddityOf,
    add,
    get partCount() {
      return growing.reduce((count, { parts }) => count + parts.length, 0);
    },
    get byteCount() {
      return byteCount;
    },
    holds,
    list,
  };
}

/** Whether a list of parts begins with another one. */
export function isPrefix(beginning: readonly Part[], parts: readonly Part[]): boolean {
  return beginning.length <= parts.length && beginning.every((part, at) => isSamePart(part, parts[at]));
}

function isSamePart(a: Part, b: Part | undefined): boolean {
  if (a === b) return true;
  try {
    return b !== undefined && canonicalJson(a) === canonicalJson(b);
  } catch {
    // Half a surrogate pair has no canonical form.
    return JSON.stringify(a) === JSON.stringify(b);
  }
}

/** One artifact as it is now; what did not grow since it was last asked for is not copied again. */
function wholeOf(item: Growing): Artifact {
  item.listed ??= Object.freeze({ ...item.artifact, parts: Object.freeze([...item.parts]) });
  return item.listed;
}

function bytesOf(parts: readonly Part[]): number {
  return parts.reduce((count, part) => {
    const content = "text" in part ? part.text : "raw" in part ? part.raw : JSON.stringify(part);
    return count + content.length;
  }, 0);
}

function startOf(artifact: Artifact, isFinished: boolean): Growing {
  return { artifact, parts: [...artifact.parts], isFinished };
}

function oddity(kind: string, artifactId: string, wanted: string): Deviation {
  return { kind, message: `found an append to artifact ${artifactId}, wanted ${wanted}` };
}
