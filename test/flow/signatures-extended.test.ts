import {
  type AgentCard,
  CardDriftError,
  CardSignatureError,
  type ClientOptions,
  createClient,
  LeaseUnverifiableError,
} from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/schema.ts";
import { createTestSigner, type TestSigner } from "../card/signer.ts";
import { caught } from "./caught.ts";

type Card = AgentCard & JsonObject;

const ours = createTestSigner("ours");
const next = createTestSigner("next");
const theirs = createTestSigner("theirs");
const keys = [ours.jwk, next.jwk];
const jwksUrl = "https://keys.example/jwks.json";
const jkuOrigins = ["https://keys.example"];
const degrade = { onDrift: "degrade", restartable: true } as const;

/** An agent with a public card that some keys signed, and an extended one that the test signs. */
async function setUp(...signers: readonly TestSigner[]) {
  const clock = createTestClock();
  const usual = createTestCard();
  const plain = { ...usual, capabilities: { ...usual.capabilities, extendedAgentCard: true } } as Card;
  const keySet = { status: 200 };
  const sign = (changes: JsonObject, by: readonly TestSigner[]) =>
    by.reduce<Card>((card, signer) => signer.signed(card, { jku: jwksUrl }), { ...plain, ...changes });
  const agent = createScriptedAgent({ clock, card: sign({}, signers) });
  const extend = (by: readonly TestSigner[], changes: JsonObject = {}, after: JsonObject = {}) =>
    agent.on(
      "GetExtendedAgentCard",
      answer.result({ ...sign({ description: "for us", ...changes }, by), ...after }),
    );
  const fetch: ClientOptions["fetch"] = async (url, init) => {
    if (url !== jwksUrl) return agent.fetch(url, init);
    return Response.json({ keys }, { status: keySet.status });
  };
  const connect = (signatures: ClientOptions["signatures"] = {}, options: ClientOptions = {}) =>
    createClient(agent.url, { clock, fetch, signatures, ...options });
  return { agent, clock, keySet, extend, connect, sign };
}

describe("an extended card that is read first", () => {
  const refused: readonly (readonly [string, readonly TestSigner[], JsonObject, string, RegExp])[] = [
    ["nobody signed", [], {}, "unsigned", /found no signature, wanted one by the pinned key [\w-]{43}$/],
    ["somebody else signed", [theirs], {}, "untrusted-signer", /wanted one by the pinned key [\w-]{43}$/],
    [
      "another trusted key signed",
      [next],
      {},
      "untrusted-signer",
      /found a signature by [\w-]{43}, wanted one/,
    ],
    ["was changed after it was signed", [ours], { name: "U" }, "invalid", /fits the card in none/],
  ];
  test.each(refused)(
    "and that %s is refused where a signer is pinned",
    async (_says, by, after, result, message) => {
      for (const mode of ["prefer", "require"] as const) {
        const { connect, extend } = await setUp(ours);
        extend(by, {}, after);
        const client = await connect({ mode, keys });
        const error = await caught(client.getExtendedAgentCard(), CardSignatureError);
        expect(error).toMatchObject({ result, retry: "never", message: expect.stringMatching(message) });
        expect(client.pin.extended).toBeUndefined();
        await client.sendMessage("hello");
      }
    },
  );
  test("is taken where the pinned key signed it, also beside others", async () => {
    for (const by of [[ours], [theirs, next, ours]]) {
      const { connect, extend } = await setUp(ours);
      extend(by);
      const client = await connect({ mode: "require", keys });
      await client.getExtendedAgentCard();
      expect(client.pin.extended?.card.description).toBe("for us");
      await client.sendMessage("hello");
    }
  });
  test("can't be told while the key set is down", async () => {
    const { connect, extend, keySet, clock } = await setUp(ours);
    extend([ours]);
    const client = await connect({ jkuOrigins });
    keySet.status = 503;
    await clock.advance(600_000);
    const error = await caught(client.getExtendedAgentCard(), CardSignatureError);
    expect(error).toMatchObject({ result: "unverifiable", retry: "safe", nextStep: "wait" });
  });
  test.each([
    ["unsigned, where no signer is pinned", [], { keys }],
    ["signed by somebody else, where no signer is pinned", [theirs], { keys }],
    ["unsigned, where signatures are ignored", [], { mode: "ignore" }],
  ] as const)("is taken %s", async (_says, by, signatures) => {
    const { connect, extend } = await setUp(...("mode" in signatures ? [ours] : []));
    extend(by);
    const client = await connect(signatures);
    await client.getExtendedAgentCard();
    await client.sendMessage("hello");
    expect(client.pin.extended?.card.description).toBe("for us");
  });
});

describe("an extended card in the middle of a lease", () => {
  const ends: readonly (readonly [string, readonly TestSigner[], JsonObject, string])[] = [
    ["nobody signs it", [], {}, "signature-removed"],
    ["somebody else signs it", [theirs], {}, "signer-changed"],
    ["another trusted key signs it", [next], {}, "signer-changed"],
    ["its signature no longer fits", [ours], { description: "another" }, "signer-changed"],
  ];
  test.each(ends)("ends it where %s", async (_says, by, after, reason) => {
    for (const mode of ["prefer", "require"] as const) {
      const { agent, connect, extend } = await setUp(ours);
      extend([ours]);
      const client = await connect({ mode, keys }, { posture: { onDrift: () => "repin" } });
      await client.getExtendedAgentCard();
      const pinned = client.pin;
      extend(by, {}, after);
      const error = await caught(client.sendMessage("hello"), CardDriftError);
      expect([error.reason, client.pin.extended]).toEqual([reason, pinned.extended]);
      expect(error.message).toContain(`wanted one by ${pinned.signer}`);
      expect(agent.acceptedMessageIds).toEqual([]);
      await caught(client.renegotiate(), CardSignatureError);
    }
  });
  test("leaves it open while the key set is down, and goes on when it is back", async () => {
    const { agent, connect, extend, keySet, clock, sign } = await setUp(ours);
    extend([ours]);
    const client = await connect({ jkuOrigins, keys: [next.jwk] });
    await client.getExtendedAgentCard();
    // The public card is signed by a key that needs no set.
    agent.rotateCard(sign({}, [ours]));
    keySet.status = 503;
    await clock.advance(600_000);
    expect(await caught(client.sendMessage("hello"), LeaseUnverifiableError)).toMatchObject({
      retry: "safe",
    });
    keySet.status = 200;
    await clock.advance(30_000);
    await client.sendMessage("hello");
  });
  test("is no evidence where its signature is invalid and no signer is pinned", async () => {
    const { connect, extend } = await setUp();
    extend([]);
    const client = await connect({ keys });
    await client.getExtendedAgentCard();
    extend([ours], {}, { description: "another" });
    const error = await caught(client.sendMessage("hello"), LeaseUnverifiableError);
    expect(error.cause).toBeInstanceOf(CardSignatureError);
    extend([]);
    await client.sendMessage("hello");
  });
  test("may change how calls are secured where the pinned key signed that, and the caller accepts it", async () => {
    const secured = { securityRequirements: [{ schemes: { key: { list: ["read"] } } }] };
    for (const acceptSignedChanges of [false, true]) {
      const { connect, extend } = await setUp(ours);
      extend([ours]);
      const client = await connect({ keys, acceptSignedChanges }, { posture: degrade });
      await client.getExtendedAgentCard();
      extend([ours], secured);
      const result = await client.sendMessage("hello").catch(({ reason }: CardDriftError) => reason);
      expect(result === "security-changed").toBe(!acceptSignedChanges);
    }
  });
  test("is not asked who signed it where signatures are ignored", async () => {
    const { connect, extend } = await setUp(ours);
    const first = await connect({ keys });
    const client = await connect({ mode: "ignore" }, { pin: first.pin });
    extend([theirs]);
    await client.getExtendedAgentCard();
    extend([]);
    await client.sendMessage("hello");
  });
  test("is looked at as well where the posture takes another public card", async () => {
    const { agent, connect, extend, sign } = await setUp();
    extend([]);
    const client = await connect({}, { posture: degrade });
    await client.getExtendedAgentCard();
    extend([], { securityRequirements: [{ schemes: { key: { list: ["read"] } } }] });
    agent.rotateCard(sign({ description: "another" }, []));
    const error = await caught(client.sendMessage("hello"), CardDriftError);
    expect(error.reason).toBe("security-changed");
    expect(agent.acceptedMessageIds).toEqual([]);
  });
  test("is followed by the public one where that declares none any more, and the posture takes what changes by it", async () => {
    const alone = { capabilities: { streaming: true } };
    const key = { apiKeySecurityScheme: { location: "header", name: "x-key" } };
    for (const [changes, reason] of [
      [{}, undefined],
      [{ securitySchemes: { key } }, "security-changed"],
    ] as const) {
      const { agent, connect, extend, sign } = await setUp();
      extend([], changes);
      const client = await connect({}, { posture: degrade });
      await client.getExtendedAgentCard();
      agent.on("GetExtendedAgentCard", answer.error(-32007, "none"));
      agent.rotateCard(sign(alone, []));
      const sent = await client.sendMessage("hello").catch((error: CardDriftError) => error.reason);
      expect(sent).toEqual(reason ?? expect.objectContaining({ task: expect.anything() }));
      expect(client.pin.extended === undefined).toBe(reason === undefined);
    }
  });
});
