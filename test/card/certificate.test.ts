import { readFileSync } from "node:fs";
import { verifyCardSignatures } from "a2a-lease";
import { createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { certificateTerm } from "../../src/card/certificate.ts";
import { rejectionOf } from "./cards.ts";

const { certificates, card } = JSON.parse(readFileSync("test/card/vectors/certificate.json", "utf8"));
const at = (text: string) => Date.parse(text);

describe("a certificate as a trusted key", () => {
  test.each([
    ["utc", "2026-11-30T09:47:29Z", "untrusted-signer", "key-expired"],
    ["utc", "2026-11-30T09:47:30Z", "valid", undefined],
    ["utc", "2026-12-30T09:47:29Z", "valid", undefined],
    ["utc", "2026-12-30T09:47:30Z", "untrusted-signer", "key-expired"],
    ["generalized", "2081-09-02T09:47:30Z", "valid", undefined],
    ["generalized", "2081-09-02T09:47:31Z", "untrusted-signer", "key-expired"],
  ])("counts within its dates alone: %s at %s", async (name, time, result, problem) => {
    const clock = createTestClock({ startMs: at(time) });
    const verdict = await verifyCardSignatures(card, { keys: [certificates[name]], clock });
    expect([verdict.result, verdict.signatures[0]?.problem]).toEqual([result, problem]);
  });
  test("is refused where its dates can't be read", async () => {
    const cut = certificates.utc.replace(/\n[^\n]+\n-----END/, "\n-----END");
    const error = await rejectionOf(verifyCardSignatures(card, { keys: [cut] }));
    expect(error).toBeInstanceOf(TypeError);
  });
  test("that is cut or changed anywhere is read without a fault", () => {
    const der = Buffer.from(certificates.utc.replace(/-----[^-]+-----|\s/g, ""), "base64");
    const pem = (bytes: Uint8Array) =>
      `-----BEGIN CERTIFICATE-----\n${Buffer.from(bytes).toString("base64")}\n-----END CERTIFICATE-----`;
    expect(certificateTerm(pem(der))).toEqual({
      notBeforeMs: at("2026-11-30T09:47:30Z"),
      notAfterMs: at("2026-12-30T09:47:30Z"),
    });
    for (let index = 0; index < der.length; index++) {
      certificateTerm(pem(der.subarray(0, index)));
      certificateTerm(pem(Uint8Array.from(der, (byte, place) => (place === index ? byte ^ 0xff : byte))));
    }
  });
});
