import type { Artifact } from "../model/artifact.ts";
import type { Deviation } from "../model/deviation.ts";
import type { TaskArtifactUpdateEvent } from "../model/events.ts";
import type { Part } from "../model/part.ts";
import { canonicalJson } from "../util/json.ts";

interface Growing {
  artifact: Artifact;
  parts: Part[];
  isFinished: boolean;
  /** Bytes of everything beside its parts, about. */
  frameBytes: number;
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
  /** How many bytes they hold, about: their content, and what each part and each artifact costs beside it. */
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
    byteCount = growing.reduce((count, item) => count + sizeOf(item), 0);
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
    if (!known) {
      const started = startOf(artifact, lastChunk);
      byteCount += sizeOf(started);
      growing.push(started);
      byId.set(artifact.artifactId, started);
    } else if (append) {
      byteCount += bytesOf(artifact.parts) - known.frameBytes;
      for (const part of artifact.parts) known.parts.push(part);
      // 4.2.2: later pieces may say more of the artifact; what they leave out stays.
      if (saysMore(artifact)) {
        known.artifact = { ...known.artifact, ...artifact };
        known.frameBytes = frameBytesOf(known.artifact);
      }
      byteCount += known.frameBytes;
      known.isFinished ||= lastChunk;
      delete known.listed;
    } else {
      byteCount -= sizeOf(known);
      delete known.listed;
      Object.assign(known, startOf(artifact, lastChunk));
      byteCount += sizeOf(known);
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

/** What a part and an artifact cost beside what they hold, so that endless empty ones are not free. */
const partBytes = 64;
const artifactBytes = 256;

function bytesOf(parts: readonly Part[]): number {
  return parts.reduce((count, part) => {
    const content = "text" in part ? part.text : "raw" in part ? part.raw : undefined;
    const isPlain = content !== undefined && Object.keys(part).length === 1;
    return count + (isPlain ? content.length : JSON.stringify(part).length) + partBytes;
  }, 0);
}

/** Whether a piece has more than parts for the artifact that it names. */
function saysMore(artifact: Artifact): boolean {
  return Object.keys(artifact).some((member) => member !== "artifactId" && member !== "parts");
}

function frameBytesOf({ parts: _parts, ...rest }: Artifact): number {
  return JSON.stringify(rest).length + artifactBytes;
}

function sizeOf({ parts, frameBytes }: Growing): number {
  return bytesOf(parts) + frameBytes;
}

function startOf(artifact: Artifact, isFinished: boolean): Growing {
  return { artifact, parts: [...artifact.parts], isFinished, frameBytes: frameBytesOf(artifact) };
}

function oddity(kind: string, artifactId: string, wanted: string): Deviation {
  return { kind, message: `found an append to artifact ${artifactId}, wanted ${wanted}` };
}
