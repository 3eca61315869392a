import { generateAgentCardSignature, AgentCard as SdkCard } from "@a2a-js/sdk";
import {
  type A2AClient,
  type AgentCard,
  CardDriftError,
  CardInvalidError,
  CardSignatureError,
  type CardSignatureOptions,
  createClient,
  verifyCardSignatures,
} from "a2a-lease";
import { createScriptedAgent, createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, skill } from "../card/cards.ts";
import { createTestSigner, hmacSigned, sortedJson } from "../card/signer.ts";
import { caught } from "../flow/caught.ts";

const origin = "https://agent.example";
const signer = createTestSigner();
const keys = [signer.jwk];

const card = (more: JsonObject = {}): JsonObject =>
  baseCard({
    description: "d",
    skills: [skill("s", { tags: ["t"] })],
    supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    ...more,
  });

/** An agent with that card, and a client that wants it signed. */
async function setUp(served: JsonObject) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, card: served as unknown as AgentCard });
  const connect = (signatures: CardSignatureOptions = { mode: "require", keys }) =>
    createClient(origin, { fetch: agent.fetch, clock, signatures });
  return { agent, connect };
}

/** The verdict on a signed card, as a client comes to it, and by which form of the card. */
async function readBy(served: JsonObject, signatures?: CardSignatureOptions) {
  const { connect } = await setUp(served);
  const read = await connect(signatures).then(
    ({ lease }: A2AClient) => lease.signature,
    (error: CardSignatureError) => error,
  );
  const [first] = read?.signatures ?? [];
  return [read?.result, first?.problem ?? first?.profile];
}

async function signedBySdk(content: JsonObject): Promise<JsonObject> {
  const sign = generateAgentCardSignature(signer.privateKey, { alg: "ES256", kid: signer.kid, typ: "JOSE" });
  const { signatures } = await sign(SdkCard.fromJSON(content));
  const entries = signatures.map(({ protected: head, signature }) => ({ protected: head, signature }));
  return { ...content, signatures: entries };
}

describe("optional flags that are set to false (C2)", () => {
  const flags = ["streaming", "pushNotifications", "extendedAgentCard"];
  const off = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, false]));

  test.each([...flags.map((name) => [name]), flags])(
    "are signed as they are set: %s %s %s",
    async (...names) => {
      const content = card({ capabilities: off(...names) });

      expect(await readBy(signer.signed(content))).toEqual(["valid", "spec"]);
      // Whether a flag was set is part of what was signed.
      const lost = { ...signer.signed(content), capabilities: {} };
      expect(await readBy(lost)).toEqual(["invalid", expect.any(String)]);
    },
  );

  test("are kept by the JavaScript SDK, which is the form of the spec", async () => {
    expect(await readBy(await signedBySdk(card({ capabilities: off(...flags) })))).toEqual(["valid", "spec"]);
  });

  test("and that a signer left out fit no form, and never count", async () => {
    const { signatures } = signer.signed(card({ capabilities: {} }));
    const served = card({ capabilities: off(...flags), signatures });
    const profiles = ["spec", "a2a-js", "a2a-python", "as-received"] as const;

    expect(await readBy(served, { mode: "require", keys, profiles })).toEqual(["invalid", "mismatch"]);
  });

  test("beside defaults that the signer kept are told by the form that fits, which the caller may accept", async () => {
    const content = card({ description: "", skills: [], documentationUrl: "", capabilities: off(...flags) });
    const served = await signedBySdk(content);

    expect(await readBy(served)).toEqual(["invalid", "other-profile"]);
    const profiles = ["spec", "a2a-js"] as const;
    expect(await readBy(served, { mode: "require", keys, profiles })).toEqual(["valid", "a2a-js"]);
  });
});

describe("members at their defaults", () => {
  const extension = { uri: "urn:x" };
  const plain = card({ capabilities: { extensions: [extension] } });
  const kinds: readonly (readonly [string, JsonObject])[] = [
    ["a flag of an extension", { capabilities: { extensions: [{ ...extension, required: false }] } }],
    ["a text of an extension", { capabilities: { extensions: [{ ...extension, description: "" }] } }],
    ["an empty list", { signatures: [], securityRequirements: [] }],
    ["an empty map", { securitySchemes: {} }],
    ["a list of a skill", { skills: [skill("s", { tags: ["t"], examples: [] })] }],
    [
      "a text of an interface",
      {
        supportedInterfaces: [
          { url: `${origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
        ],
      },
    ],
  ];

  test.each(kinds)(
    "that are signed without and sent with are no change: %s (C5, C6)",
    async (_what, more) => {
      const { signatures = [] } = signer.signed(plain);
      expect(await readBy({ ...plain, ...more, signatures })).toEqual(["valid", "spec"]);
    },
  );

  test.each(kinds)(
    "that are signed with are told as another form, not as a change: %s (C5)",
    async (_what, more) => {
      const { signatures: _none, ...full } = { ...plain, ...more };
      if (sortedJson(full) === sortedJson(plain)) return;
      const served = signer.signed(full);
      const { connect } = await setUp(served);
      const error = await caught(connect(), CardSignatureError);

      expect([error.result, error.signatures[0]?.problem]).toEqual(["invalid", "other-profile"]);
      expect(`${error.message} ${error.signatures[0]?.message}`).not.toMatch(/tamper|changed after/);
      const verdict = await verifyCardSignatures(served, { keys, profiles: ["spec", "as-received"] });
      expect(verdict).toMatchObject({ result: "valid", signers: [{ profile: "as-received" }] });
    },
  );
});

test("a signature that the JavaScript SDK made over the form of the spec is taken as it is (C6)", async () => {
  expect(await readBy(await signedBySdk(card({ capabilities: { streaming: true } })))).toEqual([
    "valid",
    "spec",
  ]);
});

describe("a valid signature in the wrong place (C7)", () => {
  const at = (url: string) =>
    signer.signed(
      card({ supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }),
    );

  test("takes no credentials there", async () => {
    const served = at("https://evil.example/rpc");
    const asked: string[] = [];
    const fetch = async (url: string, init: RequestInit) => {
      if (new URL(url).origin === origin) return Response.json(served);
      asked.push(JSON.stringify([...new Headers(init.headers)]));
      return Response.json({});
    };
    const options = { fetch, clock: createTestClock(), signatures: { mode: "require", keys } } as const;
    const client = await createClient(origin, { ...options, credentials: { bearer: "s3cret-of-ours" } });
    expect(client.lease.signature?.result).toBe("valid");
    await caught(client.sendMessage("x"));

    expect(asked.join()).not.toContain("s3cret");
  });

  test.each([
    "http://agent.example/rpc",
    "https://127.0.0.1/rpc",
    "https://10.0.0.1/rpc",
    "https://xn--exmple-cua.example/rpc",
  ])("leads no further than any other card: %s", async (url) => {
    const { connect } = await setUp(at(url));
    expect(await caught(connect())).toMatchObject({
      name: expect.stringMatching(/^(?:AddressRefused|CardInvalid|NoSupportedInterface)Error$/),
    });
  });
});

describe("verification that was asked for (C9)", () => {
  const bare = card();
  test.each<[string, JsonObject]>([
    ["no signatures", bare],
    ["an empty list of them", { ...bare, signatures: [] }],
    ["null for them", { ...bare, signatures: null }],
  ])("takes no card with %s", async (_what, served) => {
    expect(await readBy(served)).toEqual(["unsigned", undefined]);
    expect(await readBy(served, { keys })).toEqual(["unsigned", undefined]);
    const { connect, agent } = await setUp(served);
    await caught(connect(), CardSignatureError);
    await connect({ keys });
    expect(agent.calls()).toEqual([]);
  });

  test.each(["prefer", "require"] as const)(
    "is not passed by a signature that goes away: %s",
    async (mode) => {
      const { agent, connect } = await setUp(signer.signed(bare));
      const client = await connect({ mode, keys });
      agent.rotateCard(bare as unknown as AgentCard);

      const error = await caught(client.sendMessage("x"), CardDriftError);
      expect([error.reason, agent.calls()]).toEqual(["signature-removed", []]);
    },
  );
});

describe("what only looks like a signature (C10)", () => {
  const text = sortedJson(card());
  const real = signer.sign(text);
  test.each<[string, unknown]>([
    ["a header without members", { protected: "e30", signature: "AAAA" }],
    ["bytes of nobody", { ...real, signature: "A".repeat(86) }],
    [
      "the algorithm none",
      { protected: Buffer.from('{"alg":"none","kid":"key-1"}').toString("base64url"), signature: "" },
    ],
    ["the signature of another card", signer.sign(sortedJson(card({ name: "Other" })))],
  ])("is refused, also where signatures are only preferred: %s", async (_what, entry) => {
    for (const mode of ["prefer", "require"] as const) {
      expect(await readBy({ ...card(), signatures: [entry] }, { mode, keys })).toEqual([
        "invalid",
        expect.any(String),
      ]);
    }
    expect(await readBy({ ...card(), signatures: [entry] }, { mode: "ignore" })).toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each<[string, unknown]>([
    ["no header", { signature: "AAAA" }],
    ["no signature", { protected: real.protected }],
    ["an entry that is no object", "AAAA"],
    ["a list that is none", { protected: real.protected, signature: real.signature, length: 1 }],
  ])("makes a card none, whatever is asked of signatures: %s", async (what, entry) => {
    const signatures = what === "a list that is none" ? entry : [entry];
    const { connect } = await setUp({ ...card(), signatures });
    for (const mode of ["ignore", "prefer", "require"] as const) {
      const error = await caught(connect({ mode, keys }), CardInvalidError);
      expect(error.issues[0]?.path).toMatch(/^\$\.signatures/);
    }
  });

  test("is no evidence with a key that anybody has: HMAC by the public key", async () => {
    const pem = String(signer.publicKey.export({ type: "spki", format: "pem" }));
    const served = { ...card(), signatures: [hmacSigned(text, pem, { kid: "key-1" })] };
    expect(await readBy(served)).toEqual(["unverifiable", "algorithm-refused"]);
  });
});
