import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type A2AClient,
  type AgentCard,
  CardDriftError,
  CardSignatureError,
  type ClientOptions,
  createAgents,
  createClient,
  LeaseUnverifiableError,
} from "a2a-lease";
import { createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/schema.ts";
import { createTestSigner, type TestSigner } from "../card/signer.ts";
import { caught } from "./caught.ts";

type Card = AgentCard & JsonObject;

const ours = createTestSigner("ours");
const next = createTestSigner("next");
const theirs = createTestSigner("theirs");
const degrade = { onDrift: "degrade", restartable: true } as const;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An agent on a loopback port whose card is signed, and the place of its key set. */
async function setUp(...signers: readonly TestSigner[]) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock });
  const { url, close } = await agent.listen();
  closing.push(close);
  const interfaces = [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
  const plain = createTestCard({ supportedInterfaces: interfaces }) as Card;
  const jwks = await serveKeys();
  const sign = (changes: JsonObject, by: readonly TestSigner[] = signers) =>
    by.reduce<Card>((card, signer) => signer.signed(card, { jku: jwks.url }), { ...plain, ...changes });
  agent.rotateCard(sign({}));
  const connect = async (signatures: ClientOptions["signatures"], options: ClientOptions = {}) => {
    const client = await createClient(url, { clock, ...(signatures ? { signatures } : {}), ...options });
    closing.push(() => client.close());
    return client;
  };
  return { agent, url, clock, plain, jwks, sign, connect };
}

async function serveKeys() {
  const served = {
    status: 200,
    headers: {} as Readonly<Record<string, string>>,
    /** In place of the key set. */
    body: undefined as string | undefined,
    keys: [ours.jwk, next.jwk] as readonly JsonObject[],
    asked: 0,
  };
  const server = createServer((_request, response) => {
    served.asked += 1;
    response.writeHead(served.status, { "content-type": "application/json", ...served.headers });
    response.end(served.body ?? JSON.stringify({ keys: served.keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(served, { origin, url: `${origin}/jwks.json` });
}

/** How a send ends: with a task, or with an error. */
async function sent(client: A2AClient): Promise<unknown> {
  try {
    await client.sendMessage("hello");
    return "sent";
  } catch (error) {
    if (error instanceof CardDriftError) return error.reason;
    if (error instanceof LeaseUnverifiableError)
      return [error.code, (error.cause as { code?: string })?.code];
    throw error;
  }
}
const keys = [ours.jwk, next.jwk];

describe("a client reads a card", () => {
  test.each([
    ["signed by a trusted key", [ours], { keys }, "valid"],
    ["signed by somebody else", [theirs], { keys }, "untrusted-signer"],
    ["not signed", [], { keys }, "unsigned"],
  ] as const)("%s, and prefers signatures", async (_says, signers, signatures, result) => {
    const { connect } = await setUp(...signers);
    const client = await connect(signatures);
    expect(client.lease.signature?.result).toBe(result);
    expect(client.pin.signer).toBe(client.lease.signature?.signers[0]?.thumbprint);
    expect(await sent(client)).toBe("sent");
  });
  test.each([
    ["signed by somebody else", [theirs], "untrusted-signer", "never"],
    ["not signed (C9)", [], "unsigned", "never"],
  ] as const)("%s, and requires signatures", async (_says, signers, result, retry) => {
    const { connect, agent } = await setUp(...signers);
    const error = await caught(connect({ mode: "require", keys }), CardSignatureError);
    expect(error).toMatchObject({ result, retry, nextStep: "replan" });
    expect(agent.calls()).toEqual([]);
  });
  test("that changed after it was signed, and refuses it, also when it is asked for twice", async () => {
    const { connect, agent, sign } = await setUp(ours);
    agent.rotateCard({ ...sign({}), description: "changed" });
    for (const mode of ["prefer", "require", "prefer"] as const) {
      const error = await caught(connect({ mode, keys }), CardSignatureError);
      expect([error.result, error.signatures[0]?.problem]).toEqual(["invalid", "mismatch"]);
    }
    const client = await connect({ mode: "ignore", keys });
    expect([client.lease.signature, client.pin.signer]).toEqual([undefined, undefined]);
    expect(await sent(client)).toBe("sent");
  });
  test("by default: what is no signature is refused, what can't be checked is said to be so", async () => {
    const { connect, agent, plain } = await setUp(ours);
    expect((await connect(undefined)).lease.signature?.result).toBe("untrusted-signer");
    agent.rotateCard({ ...plain, signatures: [{ protected: "e30", signature: "AAAA" }] });
    expect(await caught(connect(undefined), CardSignatureError)).toMatchObject({ result: "invalid" });
  });
  test("whose keys are in a key set at an allowed place, and at no other", async () => {
    const { connect, jwks } = await setUp(ours);
    await caught(connect({ mode: "require", jkuOrigins: ["https://keys.example"] }), CardSignatureError);
    expect(jwks.asked).toBe(0);
    const client = await connect({ mode: "require", jkuOrigins: [jwks.origin] });
    expect([client.lease.signature?.result, jwks.asked]).toEqual(["valid", 1]);
  });
  test("whose key set is down, which may be another time", async () => {
    const { connect, jwks } = await setUp(ours);
    jwks.status = 503;
    const error = await caught(connect({ mode: "require", jkuOrigins: [jwks.origin] }), CardSignatureError);
    expect(error).toMatchObject({ result: "unverifiable", retry: "safe", nextStep: "wait" });
  });
  test("that was handed in", async () => {
    const { sign } = await setUp(ours);
    const addressPolicy = { allowPrivate: true, allowHttp: true };
    const options = { immutable: true, addressPolicy, signatures: { mode: "require", keys } } as const;
    const client = await createClient(sign({}), options);
    expect(client.lease.signature?.result).toBe("valid");
    await caught(createClient({ ...sign({}), name: "U" }, options), CardSignatureError);
  });
  test.each([
    [
      { mode: "require" },
      /^signatures\.keys: found no key and no jkuOrigins beside mode "require", wanted one/,
    ],
    [{ mode: "require", keys: [{ keys: [] }], jkuOrigins: [] }, /^signatures\.keys: found no key/],
    [{ mode: "require", keys, threshold: 3 }, /^signatures\.threshold: found 3 beside 2 different keys/],
  ] as const)("but not by a demand that no card can meet: %j", async (signatures, message) => {
    const { connect, agent } = await setUp(ours);
    const error = await caught(connect(signatures), TypeError);
    expect([error.message, agent.cardReads()]).toEqual([expect.stringMatching(message), []]);
  });
  test("with a wrong key among the trusted ones, and says which", async () => {
    const { connect } = await setUp(ours);
    await expect(connect({ keys: [{ kty: "oct", k: "AA" }] })).rejects.toThrow(/^signatures\.keys\[0\]: /);
  });
});

describe("a client that pinned a signer", () => {
  const changed = { description: "another" };
  test("goes on while the pinned key signs, also beside others", async () => {
    const { connect, agent, sign } = await setUp(ours);
    const client = await connect({ keys });
    agent.rotateCard(sign({}, [next, ours]));
    expect(await sent(client)).toBe("sent");
  });
  test.each([
    ["another trusted key signs the same card", [next], "signer-changed", "a signature by "],
    ["somebody else signs the same card", [theirs], "signer-changed", "no valid signature of a trusted key"],
    ["nobody signs the same card", [], "signature-removed", "no signature"],
  ] as const)("ends its lease where %s", async (_says, signers, reason, found) => {
    for (const mode of ["prefer", "require"] as const) {
      const { connect, agent, sign } = await setUp(ours);
      const client = await connect({ mode, keys }, { posture: degrade });
      const { digest } = client.pin;
      agent.rotateCard(sign({}, signers));
      const error = await caught(client.sendMessage("hello"), CardDriftError);
      expect([error.reason, await sent(client)]).toEqual([reason, reason]);
      // The content is the same, so its digest says nothing: who signed does.
      expect(error.message).toContain(
        `, wanted one by ${client.pin.signer}; the content is the same, ${digest}`,
      );
      expect(error.message).toContain(`found ${found}`);
      expect([client.pin.digest, agent.calls()]).toEqual([digest, []]);
    }
  });
  test("ends its lease where the signature no longer fits, and never adopts that card", async () => {
    const { connect, agent, sign } = await setUp(ours);
    const client = await connect({ keys }, { posture: { onDrift: () => "repin" } });
    agent.rotateCard({ ...sign({}), ...changed });
    const error = await caught(client.sendMessage("hello"), CardDriftError);
    expect([error.reason, (error.cause as CardSignatureError).code]).toEqual([
      "signer-changed",
      "CARD_SIGNATURE",
    ]);
    for (const _twice of [1, 2]) await caught(client.renegotiate(), CardSignatureError);
    expect([await sent(client), agent.calls()]).toEqual(["signer-changed", []]);
    agent.rotateCard(sign({}));
    await client.renegotiate();
    expect(await sent(client)).toBe("sent");
  });
  test("can't tell while the key set is down, and goes on when it is back", async () => {
    const { connect, agent, sign, jwks, clock } = await setUp(ours);
    const client = await connect({ jkuOrigins: [jwks.origin] });
    jwks.status = 503;
    await clock.advance(600_000);
    expect(await sent(client)).toEqual(["LEASE_UNVERIFIABLE", "CARD_SIGNATURE"]);
    jwks.status = 200;
    await clock.advance(30_000);
    expect(await sent(client)).toBe("sent");
    agent.rotateCard(sign({}, [theirs]));
    expect(await sent(client)).toBe("signer-changed");
  });
  test.each([
    ["a page of a gateway", { headers: { "content-type": "text/html" }, body: "<html>log in</html>" }],
    ["a page that is too large", { headers: { "content-type": "text/html" }, body: "x".repeat(70_000) }],
    ["nothing", { body: "" }],
    ["half of it", { body: '{"keys":[{"kty":' }],
    ["another document", { body: '{"error":"unavailable"}' }],
    ["a list of texts", { body: '{"keys":["ours"]}' }],
    ["no content", { status: 204, body: "" }],
    ["an error", { status: 500 }],
    ["a refusal", { status: 403 }],
    ["a way elsewhere", { status: 302, headers: { location: "/login" } }],
    ["more keys than are taken", { body: JSON.stringify({ keys: Array(200).fill({}) }) }],
  ])("can't tell where the key set's host answers with %s, and goes on later", async (_says, outage) => {
    for (const mode of ["prefer", "require"] as const) {
      const { connect, jwks, clock } = await setUp(ours);
      const client = await connect({ mode, jkuOrigins: [jwks.origin] });
      Object.assign(jwks, outage);
      await clock.advance(600_000);
      const error = await caught(client.sendMessage("hello"), LeaseUnverifiableError);
      expect(error).toMatchObject({ retry: "safe", nextStep: "wait", cause: { result: "unverifiable" } });
      Object.assign(jwks, { status: 200, headers: {}, body: undefined });
      await clock.advance(30_000);
      expect(await sent(client)).toBe("sent");
    }
  });
  test.each([
    ["one that does not fit", (_card: Card) => next.sign("another text")],
    ["a valid one by another key", (card: Card) => next.signed({ ...card, signatures: [] }).signatures[0]],
  ])("can't tell while the key set is down, also where the card has %s beside", async (_says, beside) => {
    const { connect, agent, sign, jwks, clock } = await setUp(ours);
    const client = await connect({ jkuOrigins: [jwks.origin], keys: [next.jwk] });
    const card = sign({});
    const other = beside(card) as NonNullable<AgentCard["signatures"]>[number];
    agent.rotateCard({ ...card, signatures: [other, ...(card.signatures ?? [])] });
    expect(await sent(client)).toBe("sent");
    jwks.status = 503;
    await clock.advance(600_000);
    expect(await caught(client.sendMessage("hello"), LeaseUnverifiableError)).toMatchObject({
      retry: "safe",
    });
    jwks.status = 200;
    await clock.advance(30_000);
    expect(await sent(client)).toBe("sent");
  });
  test("notices that its key is no longer in the key set", async () => {
    const { connect, jwks, clock } = await setUp(ours);
    const client = await connect({ jkuOrigins: [jwks.origin] });
    jwks.keys = [next.jwk];
    await clock.advance(600_000);
    expect(await sent(client)).toBe("signer-changed");
  });
  test("asks nobody who signed where signatures are ignored", async () => {
    const { connect, agent, sign } = await setUp(ours);
    const { pin } = await connect({ keys });
    expect(pin.signer).toBeDefined();
    const client = await connect({ mode: "ignore" }, { pin });
    agent.rotateCard(sign({}, [theirs]));
    expect(await sent(client)).toBe("sent");
  });
});

describe("a client that pinned no signer", () => {
  test("can't tell of a card whose signature is invalid, and keeps the one it has", async () => {
    const { connect, agent, sign, plain } = await setUp();
    const client = await connect({ keys });
    agent.rotateCard({ ...sign({}, [ours]), description: "another" });
    expect(await sent(client)).toEqual(["LEASE_UNVERIFIABLE", "CARD_SIGNATURE"]);
    expect(client.lease.digest).toBe(client.pin.digest);
    agent.rotateCard(plain);
    expect(await sent(client)).toBe("sent");
  });
});

describe("a change that the pinned key signed", () => {
  const secured = { securityRequirements: [{ schemes: { key: { list: ["read"] } } }] };
  test.each([
    ["how calls are secured", secured, "security-changed"],
    ["an older version", { version: "0.0.1" }, "rolled-back"],
  ] as const)("is accepted by a posture where the caller says so: %s", async (_says, changes, reason) => {
    for (const acceptSignedChanges of [false, true]) {
      const { connect, agent, sign } = await setUp(ours);
      const client = await connect({ keys, acceptSignedChanges }, { posture: degrade });
      agent.rotateCard(sign(changes));
      expect(await sent(client)).toBe(acceptSignedChanges ? "sent" : reason);
      // The mark of the highest version starts again.
      expect(await sent(client)).toBe(acceptSignedChanges ? "sent" : reason);
    }
  });
  test("is never accepted of another key, or under fail-closed", async () => {
    const { connect, agent, sign } = await setUp(ours);
    const strict = await connect({ keys, acceptSignedChanges: true });
    const lenient = await connect({ keys, acceptSignedChanges: true }, { posture: degrade });
    agent.rotateCard(sign(secured, [next]));
    expect(await sent(lenient)).toBe("signer-changed");
    agent.rotateCard(sign(secured));
    expect(await sent(strict)).toBe("security-changed");
  });
  test("lets the first signer take over in the middle of a lease, so that the old one can go", async () => {
    for (const acceptSignedChanges of [false, true]) {
      const { connect, agent, sign } = await setUp(ours);
      const client = await connect({ keys, acceptSignedChanges }, { posture: degrade });
      const before = client.pin.signer;
      agent.rotateCard(sign({}, [next, ours]));
      expect(await sent(client)).toBe("sent");
      expect(client.pin.signer === before).toBe(!acceptSignedChanges);
      agent.rotateCard(sign({}, [next]));
      expect(await sent(client)).toBe(acceptSignedChanges ? "sent" : "signer-changed");
    }
  });
});

test("clients of one registry read a key set once for them all, and clients of their own each for itself", async () => {
  const { jwks, clock, agent, url, sign } = await setUp(ours);
  const supportedInterfaces = [
    { url: "https://a.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ];
  const signed = sign({ supportedInterfaces });
  const fetch: ClientOptions["fetch"] = async (target, init) => {
    if (target.startsWith("https://")) return Response.json(signed);
    return globalThis.fetch(target, init);
  };
  const signatures = { mode: "require", jkuOrigins: [jwks.origin] } as const;
  const options = { fetch, clock, signatures };
  const sources = [url, "https://a.example", "https://b.example"];
  const agents = createAgents(options);
  closing.push(() => agents.close());
  const all = await Promise.all(sources.map((source) => agents.get(source)));

  expect(all.map(({ lease }) => lease.signature?.result)).toEqual(["valid", "valid", "valid"]);
  expect([jwks.asked, agent.calls()]).toEqual([1, []]);
  for (const source of sources) (await createClient(source, options)).close();
  expect(jwks.asked).toBe(4);
});
