import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";
import { setUp } from "./rig.ts";

describe("a message of a caller", () => {
  test("that holds itself is a TypeError that names it", async () => {
    const { connect } = setUp();
    const client = await connect();
    const metadata: Record<string, unknown> = {};
    metadata.self = metadata;

    const error = await caught<Error>(client.sendMessage([{ text: "x", metadata: metadata as never }]));

    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/^message|JSON can't hold/);
  });

  test("is not frozen under the caller's hands", async () => {
    const { connect } = setUp();
    const client = await connect();
    const part = { text: "x", metadata: { round: 1 } };

    await client.sendMessage([part]);

    expect(Object.isFrozen(part)).toBe(false);
    expect(Object.isFrozen(part.metadata)).toBe(false);
  });

  test.each([
    ["null", null],
    ["a list with null in it", [null]],
  ])("that is %s is a TypeError that names it", async (_, input) => {
    const { connect } = setUp();
    const client = await connect();

    const error = await caught<Error>(client.sendMessage(input as never));

    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/^message/);
  });
});

describe("credentials that a function gives in another shape", () => {
  test.each([
    ["no headers", {}],
    ["a text", "token"],
    ["null for headers", { headers: null }],
  ])("with %s are a TypeError that names credentials", async (_, given) => {
    const { connect } = setUp();
    const client = await connect({ credentials: async () => given as never });

    const error = await caught<Error>(client.sendMessage("x"));

    expect(error.message).toContain("credentials");
  });

  test("with a Headers object do not leave as no credentials at all", async () => {
    const { agent, connect } = setUp();
    const headers = new Headers({ authorization: "Bearer x" });
    const client = await connect({ credentials: async () => ({ headers }) as never });

    await client.sendMessage("x").catch(() => {});

    // Refused, or sent with what was given; never sent without.
    expect(agent.calls("SendMessage").every((call) => call.headers.authorization === "Bearer x")).toBe(true);
  });
});

describe("options of a call", () => {
  test.each([
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["timeoutMs", { timeoutMs: -1 }],
    ["timeoutMs", { timeoutMs: "5" as never }],
    ["signal", { signal: {} as never }],
  ])("are a TypeError that names %s when they can't be: %o", async (name, options) => {
    const { connect } = setUp();
    const client = await connect();

    const error = await caught<Error>(client.sendMessage("x", options));

    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(new RegExp(`^${name}: `));
  });
});
