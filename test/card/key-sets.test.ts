import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { createKeySets } from "../../src/card/key-sets.ts";
import { verifyCardSignatures } from "../../src/card/verify-signatures.ts";
import { createHttp } from "../../src/wire/http.ts";
import { baseCard, rejectionOf } from "./cards.ts";
import { type Answer, createWeb, json, silence, status } from "./reader.ts";
import { createTestSigner, sortedJson } from "./signer.ts";

const url = "https://keys.example/jwks.json";
const signer = createTestSigner();
const card = baseCard();
const signed = signer.signed(card, { jku: url });
const jkuOrigins = ["https://keys.example"];

const page = (text: string) => new Response(text, { headers: { "content-type": "text/html" } });

async function told(answers: Answer | readonly Answer[], value: object = signed, options: object = {}) {
  const web = createWeb({ [url]: answers });
  const { result, signatures } = await verifyCardSignatures(value as never, {
    jkuOrigins,
    fetch: web.fetch,
    ...options,
  });
  return [result, signatures[0]?.problem ?? "counts", web.asked.length];
}

/** A body that goes on for ever; says when nobody wants it any more. */
function endless() {
  let isCancelled = false;
  let count = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      count += 1;
      controller.enqueue(new TextEncoder().encode(" ".repeat(1024)));
    },
    cancel() {
      isCancelled = true;
    },
  });
  return { response: () => new Response(body), ended: () => ({ isCancelled, isShort: count < 200 }) };
}

describe("a key set at an allowed place", () => {
  test("has the key of a signature", async () => {
    expect(await told(json({ keys: [{ kty: "oct", k: "AA", kid: "s" }, signer.jwk] }))).toEqual([
      "valid",
      "counts",
      1,
    ]);
  });
  test("is not asked where the key is trusted already", async () => {
    expect(await told(new TypeError("no"), signed, { keys: [signer.jwk] })).toEqual(["valid", "counts", 0]);
  });
  test("has the one key of a signature without a key id", async () => {
    const anonymous = signer.signed(card, { jku: url, kid: undefined });
    expect(await told(json({ keys: [signer.jwk] }), anonymous)).toEqual(["valid", "counts", 1]);
    const two = { keys: [signer.jwk, createTestSigner("b").jwk] };
    expect(await told(json(two), anonymous)).toEqual(["untrusted-signer", "key-unknown", 1]);
  });
  test("sends nothing that tells who asks", async () => {
    const web = createWeb({ [url]: json({ keys: [signer.jwk] }) });
    await verifyCardSignatures(signed, { jkuOrigins, fetch: web.fetch });
    expect(web.asked[0]?.headers).toEqual({ accept: "application/jwk-set+json, application/json" });
  });

  const failures: readonly (readonly [string, Answer, string, string])[] = [
    ["lacks the key", json({ keys: [createTestSigner("b").jwk] }), "untrusted-signer", "key-unknown"],
    [
      "has the key as a secret",
      json({ keys: [{ kty: "oct", k: "AA", kid: "key-1" }] }),
      "untrusted-signer",
      "key-unknown",
    ],
    ["has another key under the id", json({ keys: [{ ...createTestSigner().jwk }] }), "invalid", "mismatch"],
    [
      "has a key that is past its time",
      json({ keys: [{ ...signer.jwk, exp: 1 }] }),
      "untrusted-signer",
      "key-expired",
    ],
    ["is too large", json(`{"keys":[],"x":"${"x".repeat(70_000)}"}`), "unverifiable", "keys-too-large"],
    [
      "has 10 000 keys",
      json(`{"keys":[${Array(10_000).fill("{}").join()}]}`),
      "unverifiable",
      "keys-too-many",
    ],
    ["has no keys", json({}), "unverifiable", "keys-malformed"],
    ["has a list that is none", json({ keys: { 0: signer.jwk } }), "unverifiable", "keys-malformed"],
    ["is no JSON", json("<html>"), "unverifiable", "keys-malformed"],
    ["is a page", page("<html>log in</html>"), "unverifiable", "keys-malformed"],
    ["is a page that is too large", page("x".repeat(70_000)), "unverifiable", "keys-too-large"],
    ["is empty", json(""), "unverifiable", "keys-malformed"],
    ["is cut off", json('{"keys":[{"kty":"EC","kid":"key'), "unverifiable", "keys-malformed"],
    ["has nothing but texts", json({ keys: ["key-1"] }), "unverifiable", "keys-malformed"],
    ["is another document", json({ error: "unavailable" }), "unverifiable", "keys-malformed"],
    ["has no content", status(204), "unverifiable", "keys-unreachable"],
    ["has an error", status(500), "unverifiable", "keys-unreachable"],
    ["comes with another media type", page(JSON.stringify({ keys: [signer.jwk] })), "valid", "counts"],
    [
      "has a name twice",
      json(`{"keys":[],"keys":[${JSON.stringify(signer.jwk)}]}`),
      "unverifiable",
      "keys-malformed",
    ],
    ["nests without an end", json(`{"keys":${"[".repeat(20_000)}`), "unverifiable", "keys-malformed"],
    ["is gone", status(404), "unverifiable", "keys-unreachable"],
    [
      "leads somewhere else",
      status(302, { location: "https://keys.example/other" }),
      "unverifiable",
      "keys-unreachable",
    ],
    ["can't be reached", new TypeError("fetch failed"), "unverifiable", "keys-unreachable"],
  ];
  test("says what it is where it is none", async () => {
    const web = createWeb({ [url]: page("<html>") });
    const { message } = await verifyCardSignatures(signed, { jkuOrigins, fetch: web.fetch });
    expect(message).toContain("can't be read: found text/html without { keys: [...] } in it");
  });
  test.each(failures)("%s", async (_says, answer, result, problem) => {
    expect(await told(answer)).toEqual([result, problem, 1]);
  });
  test("never ends: no more of it is taken than is allowed", async () => {
    const { response, ended } = endless();
    expect(await told(() => response())).toEqual(["unverifiable", "keys-too-large", 1]);
    expect(ended()).toEqual({ isCancelled: true, isShort: true });
  });
  test("never comes: it is not waited for longer than five seconds", async () => {
    const clock = createTestClock();
    const verdict = told(silence, signed, { clock });
    await clock.advance(5_000);
    expect(await verdict).toEqual(["unverifiable", "keys-unreachable", 1]);
  });

  test.each([
    ["of another origin", "https://keys.example.evil.example/jwks.json"],
    ["with a user name", "https://a@keys.example/jwks.json"],
    ["by http", "http://keys.example/jwks.json"],
    ["at another port", "https://keys.example:8443/jwks.json"],
    ["that is no URL", "keys.example"],
    ["that is data", `data:application/json,{"keys":[]}`],
  ])("is not asked %s", async (_says, jku) => {
    expect(await told(json({ keys: [signer.jwk] }), signer.signed(card, { jku }))).toEqual([
      "untrusted-signer",
      "jku-refused",
      0,
    ]);
  });
});

describe("key sets", () => {
  const enough = () => true;
  const { signal } = new AbortController();
  function create(answers: Answer | readonly Answer[]) {
    const clock = createTestClock();
    const web = createWeb({ [url]: answers });
    const http = createHttp({ fetch: web.fetch, clock });
    const limits = { keySetBytes: 65_536, keySetKeys: 100 };
    return { sets: createKeySets({ http, clock, limits }), clock, web };
  }

  test("are read once for all who ask, and believed for ten minutes", async () => {
    const { sets, clock, web } = create(() => json({ keys: [signer.jwk] }));
    await Promise.all(Array.from({ length: 1_000 }, () => sets.read(url, enough, signal)));
    await clock.advance(599_999);
    await sets.read(url, enough, signal);
    expect(web.asked.length).toBe(1);
    await clock.advance(1);
    await sets.read(url, enough, signal);
    expect(web.asked.length).toBe(2);
  });
  test("are read again for a key that they lack, but not within 30 seconds", async () => {
    const { sets, clock, web } = create([json({ keys: [] }), json({ keys: [signer.jwk] })]);
    const hasKey = (keys: readonly unknown[]) => keys.length > 0;
    await sets.read(url, hasKey, signal);
    await clock.advance(29_999);
    expect(await sets.read(url, hasKey, signal)).toEqual({ ok: true, keys: [] });
    await clock.advance(1);
    expect(await sets.read(url, hasKey, signal)).toEqual({ ok: true, keys: [signer.jwk] });
    expect(web.asked.length).toBe(2);
  });
  test("that fail are not asked again within 30 seconds", async () => {
    const { sets, clock, web } = create([status(500), json({ keys: [] })]);
    expect(await sets.read(url, enough, signal)).toMatchObject({ ok: false, problem: "keys-unreachable" });
    expect(await sets.read(url, enough, signal)).toMatchObject({ ok: false });
    await clock.advance(30_000);
    expect([await sets.read(url, enough, signal), web.asked.length]).toEqual([{ ok: true, keys: [] }, 2]);
  });
  test("are given up by whoever has enough, and go on for the others", async () => {
    let answer = (_response: Response) => {};
    const { sets, web } = create(() => new Promise((resolve) => (answer = resolve)));
    const controller = new AbortController();
    const first = rejectionOf(sets.read(url, enough, controller.signal));
    const second = sets.read(url, enough, signal);
    controller.abort("enough");
    expect(await first).toBe("enough");
    await Promise.resolve();
    answer(json({ keys: [] }));
    expect([await second, web.asked.length]).toEqual([{ ok: true, keys: [] }, 1]);
  });
  test.each(["blob", "filesystem"])("are none where a %s repeats an allowed origin", async (scheme) => {
    const web = createWeb({});
    const value = signer.signed(card, { jku: `${scheme}:${url}` });
    const verdict = await verifyCardSignatures(value as never, { jkuOrigins, fetch: web.fetch });
    expect([verdict.signatures[0]?.problem, web.asked]).toEqual(["jku-refused", []]);
  });
  test("tell no secret of their URL", async () => {
    const secretUrl = `${url}?api_key=s3cr3t-v4lue`;
    const value = { ...card, signatures: [signer.sign(sortedJson(card), { jku: secretUrl })] };
    const verdict = await verifyCardSignatures(value, { jkuOrigins, fetch: createWeb({}).fetch });
    expect(verdict.signatures[0]?.problem).toBe("keys-unreachable");
    expect(JSON.stringify(verdict)).not.toContain("s3cr3t");
  });
});
