import { describe, expect, test } from "vitest";
import { createOutputs, type Outputs, type SnapshotFacts } from "../../src/client/outputs.ts";

const artifact = (...texts: readonly string[]) => ({
  artifactId: "a",
  parts: texts.map((text) => ({ text })),
});
const piece = (text: string, append = true) => ({ taskId: "t1", artifact: artifact(text), append });
const working: SnapshotFacts = { mayOmit: false, isReplay: true, isOver: false };
const shown = (outputs: Outputs) =>
  outputs.list().map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "?")).join(""));
const make = (...texts: readonly string[]) => createOutputs([artifact(...texts)], 1_000);

describe("the outputs of a task", () => {
  test("are what a whole task shows, unless it could leave them out", () => {
    const outputs = make("1");
    outputs.take(undefined, { ...working, mayOmit: true });
    expect(shown(outputs)).toEqual(["1"]);
    outputs.take([artifact("1", "2")], working);
    expect(shown(outputs)).toEqual(["12"]);
    outputs.take(undefined, working);
    expect(shown(outputs)).toEqual([]);
  });

  test("are not taken from a read that a stream is bringing them faster than", () => {
    const outputs = make("1");
    const { pieceCount } = outputs;
    const feed = outputs.open();
    outputs.add(piece("2"), feed);
    outputs.take([artifact("1")], { ...working, pieceCount });
    outputs.take([artifact("1", "2", "3")], working);
    expect(shown(outputs)).toEqual(["12"]);
    outputs.add(piece("3"), feed);
    feed.close();
    outputs.take([artifact("1")], { ...working, pieceCount });
    expect(shown(outputs)).toEqual(["123"]);
    outputs.take([artifact("9")], working);
    expect(shown(outputs)).toEqual(["9"]);
  });

  test("are what the end shows, whatever a stream brings", () => {
    const outputs = make("1");
    const feed = outputs.open();
    outputs.add(piece("2"), feed);
    outputs.take([artifact("whole")], { ...working, isReplay: false, isOver: true });
    expect(shown(outputs)).toEqual(["whole"]);
  });

  test("do not go back when the stream that was ahead is over", () => {
    const outputs = make("1");
    const [fast, slow] = [outputs.open(), outputs.open()];
    outputs.take([artifact("1")], { ...working, feed: slow });
    for (const text of ["2", "3"]) outputs.add(piece(text), fast);
    expect(shown(outputs)).toEqual(["123"]);
    fast.close();
    outputs.add(piece("2"), slow);
    expect(shown(outputs)).toEqual(["123"]);
    outputs.add(piece("3"), slow);
    outputs.add(piece("4"), slow);
    expect(shown(outputs)).toEqual(["1234"]);
  });

  test("of an agent that streams without end meet a bound, and what is replaced does not count", () => {
    const outputs = make("1");
    const feed = outputs.open();
    // A part and an artifact cost something beside their text.
    for (let round = 0; round < 10; round++) outputs.add(piece("x".repeat(600), false), feed);
    expect(() => outputs.add(piece("x".repeat(200)), feed)).toThrow(/responseBytes/);
  });
});
