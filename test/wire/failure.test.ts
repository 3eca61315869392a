import { describe, expect, test } from "vitest";
import { isPlatformTimeout, toConnectionError } from "../../src/wire/failure.ts";

const url = "https://agent.example/rpc";
const coded = (code: string, more: object = {}) =>
  Object.assign(new Error(`it said ${code}`), { code, ...more });
const wrapped = (cause: unknown) => new TypeError("fetch failed", { cause });
const neverSent = (failure: unknown) => toConnectionError(url, failure, "head").neverSent;

describe("a failed connection is known to have sent nothing", () => {
  test.each([
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "UND_ERR_CONNECT_TIMEOUT",
    "CERT_HAS_EXPIRED",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ])("when its cause is %s", (code) => {
    expect(neverSent(wrapped(coded(code)))).toBe(true);
    expect(neverSent(coded(code))).toBe(true);
  });

  test("when every address that was tried refused", () => {
    const attempts = [coded("ECONNREFUSED"), coded("ENETUNREACH")];
    expect(neverSent(wrapped(Object.assign(new AggregateError(attempts), { code: "ECONNREFUSED" })))).toBe(
      true,
    );
  });

  test("when the system gave up while it connected", () => {
    expect(neverSent(wrapped(coded("ETIMEDOUT", { syscall: "connect" })))).toBe(true);
  });
});

describe("a failed connection may have sent something", () => {
  test.each([
    "ECONNRESET",
    "EPIPE",
    "ETIMEDOUT",
    "EPROTO",
    "UND_ERR_SOCKET",
    "ERR_TLS_RENEGOTIATION_DISABLED",
    "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    "SOMETHING_NEW",
  ])("when its cause is %s", (code) => {
    expect(neverSent(wrapped(coded(code)))).toBe(false);
  });

  test("when one of the addresses that were tried says something else, or nothing", () => {
    const refused = coded("ECONNREFUSED");
    expect(neverSent(wrapped(new AggregateError([refused, coded("ECONNRESET")])))).toBe(false);
    expect(neverSent(wrapped(new AggregateError([refused, new Error("?")])))).toBe(false);
  });

  test("when two layers of the failure disagree", () => {
    expect(neverSent(coded("ECONNREFUSED", { cause: coded("ECONNRESET") }))).toBe(false);
    expect(neverSent(coded("UND_ERR_SOCKET", { cause: coded("ECONNREFUSED") }))).toBe(false);
  });

  test.each([undefined, null, "ECONNREFUSED", 7, {}, [], new Error("no code")])(
    "when all that is thrown is %j",
    (thrown) => {
      expect(neverSent(thrown)).toBe(false);
    },
  );

  test("when the failure is its own cause", () => {
    const loop = new Error("loop");
    loop.cause = loop;
    expect(neverSent(loop)).toBe(false);
  });

  test("when an answer had begun", () => {
    expect(toConnectionError(url, coded("ECONNREFUSED"), "body").neverSent).toBe(false);
  });
});

describe("a connection error", () => {
  test("says the system's code and the reasons from the outside in, each one once", () => {
    const error = toConnectionError(url, wrapped(wrapped(coded("ENOTFOUND"))), "head");
    expect(error.systemCode).toBe("ENOTFOUND");
    expect(error.message).toBe(
      "the connection to https://agent.example/rpc failed: fetch failed: it said ENOTFOUND",
    );
  });

  test("holds neither the thrown value nor a secret of its text", () => {
    const thrown = Object.assign(
      new Error("no way to https://me:hunter2@h.example/?token=abc with Bearer s3cr3t-token"),
      {
        options: { headers: { authorization: "Bearer s3cr3t-token" } },
      },
    );
    const error = toConnectionError("https://me:hunter2@h.example/?token=abc", wrapped(thrown), "head");
    const shown = `${error.message} ${JSON.stringify(error)} ${error.stack}`;
    expect(shown).not.toMatch(/hunter2|s3cr3t|=abc/);
    expect(error.cause).toBeUndefined();
  });

  test("stays short, however much was thrown", () => {
    const thrown = new AggregateError(
      Array.from({ length: 1000 }, (_, index) => new Error(`${index} `.repeat(5000))),
    );
    expect(toConnectionError(url, thrown, "head").message.length).toBeLessThan(700);
  });
});

test("the platform's own deadlines are told from broken connections", () => {
  expect(isPlatformTimeout(wrapped(coded("UND_ERR_HEADERS_TIMEOUT")))).toBe(true);
  expect(isPlatformTimeout(wrapped(coded("UND_ERR_BODY_TIMEOUT")))).toBe(true);
  expect(isPlatformTimeout(wrapped(coded("UND_ERR_CONNECT_TIMEOUT")))).toBe(false);
  expect(isPlatformTimeout("UND_ERR_HEADERS_TIMEOUT")).toBe(false);
});

describe("a connection failed for good", () => {
  const reasonOf = (failure: unknown, phase: "head" | "body" = "head") =>
    toConnectionError(url, failure, phase).reason;

  test.each([
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "CERT_UNTRUSTED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "HOSTNAME_MISMATCH",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
    "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
    "ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED",
    "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
    "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE",
  ])("when its cause is %s", (code) => {
    expect(reasonOf(wrapped(coded(code)))).toBe("certificate");
    expect(toConnectionError(url, coded(code), "head")).toMatchObject({
      retry: "never",
      nextStep: "ask-user",
    });
    // What comes after the head is the end of a connection that TLS had made.
    expect(reasonOf(wrapped(coded(code)), "body")).toBeUndefined();
  });

  test.each(["ECONNREFUSED", "ECONNRESET", "EPROTO", "UND_ERR_SOCKET", "ERR_TLS_HANDSHAKE_TIMEOUT"])(
    "and not when its cause is %s",
    (code) => {
      expect(reasonOf(wrapped(coded(code)))).toBeUndefined();
      expect(toConnectionError(url, coded(code), "head")).toMatchObject({ retry: "safe", nextStep: "wait" });
    },
  );
});
