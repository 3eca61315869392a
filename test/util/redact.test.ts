import { describe, expect, test } from "vitest";
import { cut, redactJson, redactText, redactUrl } from "../../src/util/redact.ts";
import { measured, patience } from "./cpu.ts";

describe("a URL in a log", () => {
  test.each([
    ["https://h.example/a?b=c", "https://h.example/a?b=c"],
    [
      "https://h.example/cards/agent-card.json?assistant=9",
      "https://h.example/cards/agent-card.json?assistant=9",
    ],
    ["https://user:pass@h.example/a", "https://h.example/a"],
    ["https://h.example/a?api_key=s3&x=1#frag", "https://h.example/a?api_key=***&x=1"],
    [
      "https://h.example/?subscription-key=s3&code=s3&auth=s3",
      "https://h.example/?subscription-key=***&code=***&auth=***",
    ],
    ["https://h.example/?monkey=1&encode=2", "https://h.example/?monkey=1&encode=2"],
    ["https://h.example/?x=abcdefghijklmnopqrstuvwxyz", "https://h.example/?x=***"],
    ["/a2a/agent?token=s3", "/a2a/agent"],
    ["//user:pass@h.example/a", "//h.example/a"],
    ["agent.example:443", "agent.example:443"],
  ])("%s reads %s", (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });

  test("is cut to 500 characters", () => {
    expect(redactUrl(`https://h.example/${"a".repeat(600)}`)).toHaveLength(500 + "… (118 more)".length);
  });
});

describe("a text in a log", () => {
  test.each([
    ["Authorization: Bearer s3cr3t-t0ken", "Authorization: ***"],
    ["authorization: s3cr3t and more\nnext: line", "authorization: ***\nnext: line"],
    [
      '{"headers":{"authorization":"Token s3cr3t","accept":"x"}}',
      '{"headers":{"authorization":"***","accept":"x"}}',
    ],
    ["Cookie: a=s3cr3t; b=s3cr3t", "Cookie: ***"],
    ["sent bearer s3cr3t", "sent bearer ***"],
    ["DPoP s3cr3t", "DPoP ***"],
    ["Basic dXNlcjpwYXNz", "Basic ***"],
    ["x-api-key: s3cr3t, next", "x-api-key: ***, next"],
    ['{"access_token":"s3cr3t","expires_in":5}', '{"access_token":"***","expires_in":5}'],
    ["password=s3cr3t&x=1", "password=***&x=1"],
    ["at https://user:s3cr3t@h.example/a?api_key=s3cr3t&b=1", "at https://***@h.example/a?api_key=***&b=1"],
    ["jwt eyJhbGciOiJ9.eyJzdWIi.c2ln end", "jwt *** end"],
  ])("%s reads %s", (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });

  test.each([
    'Bearer realm="agents", error="invalid_token"',
    "Basic realm=agents",
    "wanted a bearer token",
    "basic authentication is off",
    "found digest sha256:abc",
    "$.flows.password: found nothing, wanted an object",
    "is a? b=c",
  ])("%s stays, since it holds no secret", (text) => {
    expect(redactText(text)).toBe(text);
  });

  test.each(["?token", "eyJ-", "bearer ", "//", "authorization:", '"', "?a&", "basic A", "api_key="])(
    "takes work in proportion to its length: %j again and again",
    patience,
    (piece) => {
      const text = piece.repeat(1_000_000 / piece.length);
      measured(() => redactText(text));
    },
  );
});

describe("JSON in a log", () => {
  test("has no value of a member whose name speaks of a secret, and keeps those that only sound like it", () => {
    const given = {
      token: "s3",
      tokenUrl: "https://h.example/token",
      nested: [{ clientSecret: "s3", apiKeyName: "X-Key", code: "TASK_NOT_FOUND" }],
      text: "Bearer s3cr3t",
      count: 3,
      nothing: null,
    };
    expect(redactJson(given)).toEqual({
      token: "***",
      tokenUrl: "https://h.example/token",
      nested: [{ clientSecret: "***", apiKeyName: "X-Key", code: "TASK_NOT_FOUND" }],
      text: "Bearer ***",
      count: 3,
      nothing: null,
    });
  });

  test("is cut: texts, lists, and the whole", () => {
    expect(redactJson({ a: "xxxxxxxxxx", b: Array.from({ length: 103 }, () => 1) }, { maxText: 4 })).toEqual({
      a: "xxxx… (6 more)",
      b: [...Array.from({ length: 100 }, () => 1), "… (3 more)"],
    });
    const big = Array.from({ length: 100 }, () => ({ text: "x".repeat(2000), inner: { a: [1, 2, 3] } }));
    expect(JSON.stringify(redactJson(big, { maxTotal: 5_000 })).length).toBeLessThan(6_000);
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`member-${index}`, 1]));
    expect(JSON.stringify(redactJson(wide, { maxTotal: 5_000 })).length).toBeLessThan(10_000);
  });
});

test("a cut text says how much went", () => {
  expect([cut("abc", 3), cut("abcd", 3)]).toEqual(["abc", "abc… (1 more)"]);
});
