import { createHash, createHmac, generateKeyPairSync } from "node:crypto";
import { createMemoryLedger } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { createWebhookReceiver, type JwtVerification } from "a2a-lease/webhook";
import { exportJWK, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { minute, pushOf, startRig, status, token } from "./rig.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = { ...(await exportJWK(publicKey)), kid: "key-1", alg: "RS256", use: "sig" };
const audience = "https://caller.example.com/a2a";
const startMs = Date.parse("2030-01-01T00:00:00Z");

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** A receiver of signed notifications and what signs them, with the one thing changed that a test is about. */
async function setUp(more: Partial<JwtVerification> = {}) {
  const clock = createTestClock({ startMs });
  const verify: JwtVerification = {
    jwks: { keys: [jwk] },
    audience,
    issuer: "https://agent.example",
    cardUrl: "https://agent.example/.well-known/agent-card.json",
    ...more,
  };
  const rig = await startRig({ verify, clock });
  const body = JSON.stringify(status(rig.handle.id, "WORKING", minute(1)));
  let serial = 0;
  const claims = () => {
    const nowSeconds = clock.now() / 1000;
    serial += 1;
    return {
      iss: "https://agent.example",
      aud: audience,
      iat: nowSeconds,
      exp: nowSeconds + 60,
      jti: `jti-${serial}`,
      request_body_sha256: sha256(body),
    };
  };
  const sign = (changes: Readonly<Record<string, unknown>> = {}, header = {}) => {
    const payload = Object.entries({ ...claims(), ...changes }).filter(([, value]) => value !== undefined);
    return new SignJWT(Object.fromEntries(payload))
      .setProtectedHeader({ alg: "RS256", kid: "key-1", ...header })
      .sign(privateKey);
  };
  const send = async (jwt: string, text = body, headers = {}) =>
    (await rig.receive(pushOf(text, { authorization: `Bearer ${jwt}`, ...headers }))).status;
  return { ...rig, clock, body, sign, send, claims };
}

describe("a signed notification", () => {
  test("is taken without any secret", async () => {
    const { sign, send, updates } = await setUp();
    expect(await send(await sign())).toBe(200);
    expect(updates).toMatchObject([{ state: "TASK_STATE_WORKING" }]);
  });

  test("is taken by one key, with a secret beside it, and with no hash of the body", async () => {
    const { sign, send, secret } = await setUp({ jwks: jwk as never });
    expect(await send(await sign(), undefined, token(secret))).toBe(200);
    expect(await send(await sign({ request_body_sha256: undefined }))).toBe(200);
  });

  test.each([
    ["expired", { exp: startMs / 1000 - 60 }],
    ["without an expiry", { exp: undefined }],
    ["too old", { iat: startMs / 1000 - 600 }],
    ["of the future", { iat: startMs / 1000 + 600 }],
    ["with neither a date nor an id", { iat: undefined, jti: undefined }],
    ["not valid yet", { nbf: startMs / 1000 + 600 }],
    ["for somebody else", { aud: "https://somebody.example" }],
    ["for nobody", { aud: undefined }],
    ["of another issuer", { iss: "https://mallory.example" }],
    ["for another body", { request_body_sha256: sha256("{}") }],
    ["with a hash that is none", { request_body_sha256: 7 }],
    ["for another task", { taskId: "another-task" }],
  ])("%s is refused", async (_name, changes) => {
    const { sign, send, updates } = await setUp();
    expect(await send(await sign(changes))).toBe(401);
    expect(updates).toEqual([]);
  });

  test("by the algorithm none is refused", async () => {
    const { send, claims } = await setUp();
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const alg of ["none", "None", "NONE"]) {
      expect(await send(`${encode({ alg })}.${encode(claims())}.`)).toBe(401);
    }
  });

  test("by HMAC with the public key as the secret is refused", async () => {
    const { send, claims } = await setUp();
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const pem = publicKey.export({ type: "spki", format: "pem" });
    for (const secret of [pem, JSON.stringify(jwk)]) {
      const text = `${encode({ alg: "HS256", kid: "key-1" })}.${encode(claims())}`;
      const signature = createHmac("sha256", secret).update(text).digest("base64url");
      expect(await send(`${text}.${signature}`)).toBe(401);
    }
  });

  test("by another key, under the id of the right one, is refused", async () => {
    const { send, claims } = await setUp();
    const forged = await new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", kid: "key-1" })
      .sign(other.privateKey);
    expect(await send(forged)).toBe(401);
  });

  test("with a key of its own in its head is refused", async () => {
    const { send, claims } = await setUp();
    const forged = await new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", jwk: await exportJWK(other.publicKey), kid: "key-9" })
      .sign(other.privateKey);
    expect(await send(forged)).toBe(401);
  });

  test("is taken once: the same token again is refused, however often and at once", async () => {
    const { sign, send, updates } = await setUp();
    const jwt = await sign();
    const answers = await Promise.all([send(jwt), send(jwt), send(jwt)]);
    expect(answers.sort()).toEqual([200, 401, 401]);
    expect(await send(jwt)).toBe(401);
    expect(updates.length).toBe(1);
  });

  test("that could not be stored may come again with the same token", async () => {
    const { sign, send } = await setUp();
    const jwt = await sign({ request_body_sha256: undefined });
    expect(await send(jwt, JSON.stringify(status("nobody-knows-it", "WORKING", minute(1))))).toBe(404);
    expect(await send(jwt)).toBe(200);
  });

  test("with a wrong secret beside it is refused, and so is a right secret alone", async () => {
    const { sign, send, receive, body, secret } = await setUp();
    expect(await send(await sign(), undefined, token("not-the-secret-of-anything"))).toBe(401);
    expect((await receive(pushOf(body, token(secret)))).status).toBe(401);
  });

  test("of a task that nobody here started is unknown", async () => {
    const { sign, send } = await setUp();
    const body = JSON.stringify(status("nobody-knows-it", "WORKING", minute(1)));
    expect(await send(await sign({ request_body_sha256: sha256(body) }), body)).toBe(404);
  });

  test("can't be told from others while the keys can't be had, which is said as that", async () => {
    const down = async () => new Response("", { status: 500 });
    const { sign, send, errors } = await setUp({ jwks: "https://agent.example/jwks.json", fetch: down });
    expect(await send(await sign())).toBe(503);
    expect(errors.length).toBe(1);
  });

  test("has no key set of any length read for it", async () => {
    let pieces = 0;
    let isLetGo = false;
    const endless = async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            pieces += 1;
            if (pieces > 100) controller.close();
            else controller.enqueue(new TextEncoder().encode(" ".repeat(16 * 1024)));
          },
          cancel() {
            isLetGo = true;
          },
        }),
      );
    const { sign, send, errors } = await setUp({ jwks: "https://agent.example/jwks.json", fetch: endless });
    expect(await send(await sign())).toBe(503);
    expect(errors).toMatchObject([{ code: "LIMIT_EXCEEDED", limit: "verify.jwks", max: 65_536 }]);
    expect(pieces).toBeLessThan(10);
    expect(isLetGo).toBe(true);
  });

  test("is verified by keys that are fetched", async () => {
    const fetched: string[] = [];
    const fetch = async (url: string) => {
      fetched.push(url);
      return Response.json({ keys: [jwk] });
    };
    const { sign, send } = await setUp({ jwks: "https://agent.example/jwks.json", fetch });
    expect([await send(await sign()), await send(await sign())]).toEqual([200, 200]);
    expect(fetched).toEqual(["https://agent.example/jwks.json"]);
  });

  test.each([
    ["algorithms", { algorithms: ["HS256"] }],
    ["algorithms", { algorithms: ["none"] }],
    ["algorithms", { algorithms: [] }],
    ["audience", { audience: "" }],
    ["audience", { audience: [] }],
    ["jwks", { jwks: "http://agent.example/jwks.json" }],
    ["jwks", { jwks: "keys" }],
    ["cardUrl", { cardUrl: undefined as never }],
  ])("can't be verified by wrong %s", (name, changes) => {
    const verify = {
      jwks: { keys: [jwk] },
      audience,
      cardUrl: "https://agent.example",
      ...changes,
    } as JwtVerification;
    expect(() => createWebhookReceiver({ ledger: createMemoryLedger(), verify })).toThrow(`verify.${name}`);
  });
});
