import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ArtifactFold, createArtifactFold } from "../../src/lifecycle/artifacts.ts";
import type { Artifact } from "../../src/model/artifact.ts";
import type { TaskArtifactUpdateEvent } from "../../src/model/events.ts";
import type { Part } from "../../src/model/part.ts";

const artifact = (artifactId: string, ...texts: readonly string[]): Artifact => ({
  artifactId,
  parts: texts.map((text) => ({ text })),
});
/** Says what is odd about a piece, and takes it. */
const add = (fold: ArtifactFold, piece: TaskArtifactUpdateEvent) => {
  const oddity = fold.oddityOf(piece);
  fold.add(piece);
  return oddity;
};
const update = (piece: Artifact, more: Partial<TaskArtifactUpdateEvent> = {}): TaskArtifactUpdateEvent => ({
  taskId: "t1",
  artifact: piece,
  ...more,
});

describe("artifacts grow", () => {
  test("by pieces that are appended, whose parts stay parts", () => {
    const fold = createArtifactFold();
    const oddities = [
      add(fold, update({ ...artifact("a", "one"), name: "A", metadata: { m: 1 } })),
      add(fold, update(artifact("b", "x"), { append: false })),
      add(fold, update({ ...artifact("a", "two"), description: "later" }, { append: true })),
      add(
        fold,
        update(
          { artifactId: "a", parts: [{ raw: "AAEC" }, { data: null }] },
          { append: true, lastChunk: true },
        ),
      ),
    ];
    expect([fold.list(), oddities]).toEqual([
      [
        {
          ...{ artifactId: "a", name: "A", description: "later", metadata: { m: 1 } },
          parts: [{ text: "one" }, { text: "two" }, { raw: "AAEC" }, { data: null }],
        },
        artifact("b", "x"),
      ],
      Array(4).fill(undefined),
    ]);
  });

  test("anew, in their old place, where a piece is not appended", () => {
    const fold = createArtifactFold([artifact("a", "old"), artifact("b", "x")]);
    fold.add(update({ ...artifact("a", "new"), name: "A" }));
    expect(fold.list()).toEqual([{ ...artifact("a", "new"), name: "A" }, artifact("b", "x")]);
  });

  test("from nothing where the first piece is appended, which is odd (D21)", () => {
    const fold = createArtifactFold();
    expect(add(fold, update(artifact("a", "one"), { append: true }))).toEqual({
      kind: "append-to-unknown-artifact",
      message: "found an append to artifact a, wanted an artifact to append to",
    });
    expect(add(fold, update(artifact("a", "two"), { append: true, lastChunk: true }))).toBe(undefined);
    expect(add(fold, update(artifact("a", "three"), { append: true }))).toEqual({
      kind: "append-after-last-chunk",
      message: "found an append to artifact a, wanted nothing after lastChunk (4.2.2)",
    });
    expect(fold.list()).toEqual([artifact("a", "one", "two", "three")]);
  });

  test("over again after a snapshot", () => {
    const fold = createArtifactFold([artifact("a", "one")]);
    fold.add(update(artifact("a", "two"), { append: true, lastChunk: true }));
    fold.replace([artifact("a", "whole")]);
    expect([add(fold, update(artifact("a", "more"), { append: true })), fold.list()]).toEqual([
      undefined,
      [artifact("a", "whole", "more")],
    ]);
  });

  test("without losing one of two that have the same id", () => {
    const fold = createArtifactFold([artifact("a", "first"), artifact("a", "second")]);
    fold.add(update(artifact("a", "more"), { append: true }));
    expect(fold.list()).toEqual([artifact("a", "first"), artifact("a", "second", "more")]);
  });
});

describe("a list of artifacts", () => {
  test("is frozen, made once, and does not grow afterwards", () => {
    const given = [artifact("a", "one")];
    const fold = createArtifactFold(given);
    const before = fold.list();
    expect([fold.list() === before, Object.isFrozen(before), Object.isFrozen(before[0]?.parts)]).toEqual([
      true,
      true,
      true,
    ]);
    fold.add(update(artifact("a", "two"), { append: true }));
    expect([before, given]).toEqual([[artifact("a", "one")], [artifact("a", "one")]]);
    expect(Object.isFrozen(createArtifactFold().list())).toBe(true);
  });

  test("of a hundred thousand pieces is made in time in proportion to them", () => {
    const fold = createArtifactFold();
    const startMs = performance.now();
    for (let index = 0; index < 100_000; index++) fold.add(update(artifact("a", "x"), { append: true }));
    expect(fold.list()[0]?.parts).toHaveLength(100_000);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
});

test("artifacts that did not grow since they were last asked for are not copied again", () => {
  const fold = createArtifactFold([{ artifactId: "a", parts: [{ text: "1" }] }]);
  fold.add({ taskId: "t", artifact: { artifactId: "b", parts: [{ text: "2" }] } });
  const [first, second] = fold.list();

  fold.add({ taskId: "t", artifact: { artifactId: "b", parts: [{ text: "3" }] }, append: true });

  expect(fold.list()[0]).toBe(first);
  expect(fold.list()[1]).not.toBe(second);
  expect(second?.parts).toEqual([{ text: "2" }]);
});

describe("for any pieces", () => {
  const part = fc.oneof(
    fc.record({ text: fc.string({ unit: "binary" }) }),
    fc.record({ raw: fc.base64String() }),
    fc.record({ data: fc.jsonValue(), metadata: fc.constant({ m: 1 }) }),
  ) as fc.Arbitrary<Part>;
  const piece = fc.record(
    {
      artifact: fc.record(
        {
          artifactId: fc.constantFrom("a", "b", "c"),
          parts: fc.array(part, { maxLength: 3 }),
          name: fc.string(),
          metadata: fc.dictionary(fc.string(), fc.string()),
        },
        { requiredKeys: ["artifactId", "parts"] },
      ),
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    },
    { requiredKeys: ["artifact"] },
  );

  test("the artifacts are what a plain reading of 4.2.2 makes of them, however often they are asked for", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 30 }), (pieces) => {
        const fold = createArtifactFold();
        let model: Artifact[] = [];
        for (const [{ artifact: given, append = false, lastChunk }, isLooked] of pieces) {
          fold.add({
            taskId: "t1",
            artifact: given,
            append,
            ...(lastChunk === undefined ? {} : { lastChunk }),
          });
          const old = model.find(({ artifactId }) => artifactId === given.artifactId);
          const grown = append && old ? { ...old, ...given, parts: [...old.parts, ...given.parts] } : given;
          model = old ? model.map((item) => (item === old ? grown : item)) : [...model, grown];
          if (isLooked) expect(fold.list()).toEqual(model);
        }
        expect(fold.list()).toEqual(model);
        expect(JSON.stringify(fold.list().map(({ parts }) => parts))).toBe(
          JSON.stringify(model.map(({ parts }) => parts)),
        );
        // What is counted while it grows is what is counted of the whole.
        expect(fold.byteCount).toBe(createArtifactFold(model).byteCount);
      }),
      { numRuns: 500 },
    );
  });
});

test("nothing of an artifact is free of charge", () => {
  const costs = (...pieces: readonly TaskArtifactUpdateEvent[]) => {
    const fold = createArtifactFold();
    for (const item of pieces) fold.add(item);
    return fold.byteCount;
  };
  const first = update(artifact("a", ""));
  const empty = costs(first);

  expect(costs(first, update(artifact("a", ""), { append: true }))).toBeGreaterThan(empty);
  expect(costs(first, update(artifact("b")))).toBeGreaterThan(empty);
  expect(
    costs(first, update({ ...artifact("a"), metadata: { m: "x".repeat(1_000) } }, { append: true })),
  ).toBeGreaterThan(empty + 1_000);
  expect(
    costs(update({ artifactId: "a", parts: [{ text: "", metadata: { m: "x".repeat(1_000) } }] })),
  ).toBeGreaterThan(empty + 1_000);
});
