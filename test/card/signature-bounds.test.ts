import { verifyCardSignatures } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createKeySets } from "../../src/card/key-sets.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { createHttp } from "../../src/wire/http.ts";
import { baseCard } from "./cards.ts";
import { createWeb, json, silence } from "./reader.ts";
import { createTestSigner, sortedJson } from "./signer.ts";

const origin = "https://keys.example";
const jkuOrigins = [origin];
const signer = createTestSigner();
const card = baseCard({ description: "", skills: [] });
const text = sortedJson(card);

afterEach(() => vi.restoreAllMocks());

/** Counts how often a text of the card is encoded, and how often a signature is compared with one. */
function counted() {
  const encode = vi.spyOn(TextEncoder.prototype, "encode");
  const verify = vi.spyOn(globalThis.crypto.subtle, "verify");
  return () => ({
    encoded: encode.mock.calls.filter(([value]) => value?.startsWith('{"capabilities"')).length,
    verified: verify.mock.calls.length,
  });
}

describe("the signatures of one card", () => {
  const misfits = Array.from({ length: 16 }, () => signer.sign("another text"));

  test("cost each of its forms once, and diagnosis for the first two alone", async () => {
    const told = counted();
    const verdict = await verifyCardSignatures({ ...card, signatures: misfits }, { keys: [signer.jwk] });

    expect(verdict.signatures.map(({ problem }) => problem)).toEqual(Array(16).fill("mismatch"));
    const [first, , third] = verdict.signatures;
    const forms = new Set((first?.forms ?? []).map(({ digest }) => digest)).size;
    expect(forms).toBeGreaterThan(1);
    expect(told()).toEqual({ encoded: forms, verified: 16 + 2 * (forms - 1) });
    expect(third?.forms?.map(({ profile }) => profile)).toEqual(["spec"]);
    expect(third?.message).toMatch(
      /fits the card in no accepted form: spec sha256:.*first 2 such signatures/,
    );
  });
  test("cost one form and no diagnosis where the first one fits", async () => {
    const told = counted();
    const verdict = await verifyCardSignatures(signer.signed(card), { keys: [signer.jwk] });
    expect([verdict.result, told()]).toEqual(["valid", { encoded: 1, verified: 1 }]);
  });
  test("are tried with 64 keys in all, and what comes later is not told to be wrong", async () => {
    const keys = Array.from({ length: 16 }, () => {
      const { kid: _none, ...jwk } = createTestSigner().jwk;
      return jwk;
    });
    const told = counted();
    const verdict = await verifyCardSignatures({ ...card, signatures: misfits }, { keys });
    const problems = verdict.signatures.map(({ problem }) => problem);
    expect([verdict.result, ...problems]).toEqual([
      "invalid",
      ...Array(4).fill("mismatch"),
      ...Array(12).fill("too-many"),
    ]);
    expect(told().verified).toBeLessThanOrEqual(64 + 2 * 16 * 4);
  });
  test("that fit another form are told so after two that fit none, where they are among the accepted ones", async () => {
    const signatures = [...misfits.slice(0, 2), createTestSigner().sign("x"), signer.sign(text)];
    const { result } = await verifyCardSignatures(
      { ...card, signatures },
      { keys: [signer.jwk], profiles: ["spec", "as-received"] },
    );
    expect(result).toBe("valid");
  });
});

describe("the key sets of one card", () => {
  const at = (path: string) => `${origin}/${path}`;
  const signedAt = (paths: readonly string[], by = signer): JsonObject => ({
    ...card,
    signatures: paths.map((path) => by.sign(text, { jku: at(path) })),
  });
  const names = Array.from({ length: 16 }, (_none, index) => `set-${index}`);

  test("are asked for at one moment, and waited for five seconds in all", async () => {
    const clock = createTestClock();
    const web = createWeb(Object.fromEntries(names.map((name) => [at(name), silence])));
    const asked = verifyCardSignatures(signedAt(names), { jkuOrigins, fetch: web.fetch, clock });
    await clock.advance(5_000);

    const { result, signatures } = await asked;
    expect([result, web.asked.length]).toEqual(["unverifiable", 4]);
    expect(signatures.map(({ problem }) => problem)).toEqual([
      ...Array(4).fill("keys-unreachable"),
      ...Array(12).fill("too-many"),
    ]);
  });
  test("don't wait for one that stalls", async () => {
    const clock = createTestClock();
    const web = createWeb({ [at("stalls")]: silence, [at("answers")]: json({ keys: [signer.jwk] }) });
    const asked = verifyCardSignatures(signedAt(["stalls", "answers"]), {
      jkuOrigins,
      fetch: web.fetch,
      clock,
    });
    await clock.advance(5_000);
    expect(await asked).toMatchObject({ result: "valid", signatures: [{ problem: "keys-unreachable" }, {}] });
  });
  test("count once, however many signatures name one", async () => {
    const web = createWeb({ [at("one")]: json({ keys: [signer.jwk] }) });
    const value = signedAt(Array(16).fill("one"), createTestSigner());
    const { signatures } = await verifyCardSignatures(value, { jkuOrigins, fetch: web.fetch });
    expect([web.asked.length, new Set(signatures.map(({ problem }) => problem))]).toEqual([
      1,
      new Set(["mismatch"]),
    ]);
  });
  test("end with the card's time, and the reading goes on for others", async () => {
    const clock = createTestClock();
    let answer = (_response: Response) => {};
    const web = createWeb({ [at("slow")]: () => new Promise((resolve) => (answer = resolve)) });
    const http = createHttp({ fetch: web.fetch, clock });
    const limits = { keySetBytes: 65_536, keySetKeys: 100 };
    const sets = createKeySets({ http, clock, limits, totalMs: 60_000 });
    const { signal } = new AbortController();
    const ofCard = sets.forCard().read(at("slow"), () => true, signal);
    const ofOther = sets.read(at("slow"), () => true, signal);
    await clock.advance(5_000);
    expect(await ofCard).toMatchObject({ ok: false, problem: "keys-unreachable" });
    answer(json({ keys: [] }));
    expect(await ofOther).toEqual({ ok: true, keys: [] });
  });
});
