import { describe, expect, test } from "vitest";
import { cut } from "../../src/util/redact.ts";
import { secretsIn, strikeJson, strikeSecrets } from "../../src/util/strike.ts";
import { measured, patience } from "./cpu.ts";

describe("a secret that comes back", () => {
  const secret = 'p/4+s"\\w=0rd-é';
  const json = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(json).slice(1, -1);

  test.each([
    ["as it is", secret],
    ["in upper case", secret.toUpperCase()],
    ["in a URL", encodeURIComponent(secret)],
    ["in a URL in lower case", encodeURIComponent(secret).toLowerCase()],
    ["in a form", new URLSearchParams({ v: secret }).toString().slice(2)],
    ["in JSON", json],
    ["in JSON of ASCII alone", json.replace("é", "\\u00e9")],
    ["in JSON whose slashes are escaped", json.replace("/", "\\/")],
    ["in JSON within JSON", twice],
    ["in JSON within JSON within JSON", JSON.stringify(twice).slice(1, -1)],
  ])("%s is struck", (_how, text) => {
    expect(strikeSecrets(`a ${text} b`, [secret])).toBe("a *** b");
  });

  test.each([8, 9, 12])("and was cut after %i characters is struck", (length) => {
    const text = "the-secret-of-all";
    expect(strikeSecrets(cut(`got ${text}`, length), [text])).toMatch(/^got \*\*\*… \(\d+ more\)$/);
    expect(strikeSecrets(cut(`got ${text.toUpperCase()}`, length), [text])).toMatch(/^got \*\*\*…/);
  });

  test("in a value of JSON is struck from names and texts, and leaves JSON behind", () => {
    const value = { [secret]: 1, list: [secret, { text: "\nnnnnnnnn" }], none: null };
    const struck = strikeJson(value, [secret, "nnnnnnnn"]);
    expect(struck).toEqual({ "***": 1, list: ["***", { text: "\n***" }], none: null });
  });

  test.each(["…s", "s… (1 more)", "secret-", "… (", "a"])(
    "is looked for with work in proportion to the text: %j again and again",
    patience,
    (piece) => {
      const text = piece.repeat(65_536 / piece.length);
      const secrets = secretsIn(
        Object.fromEntries(
          Array.from({ length: 20 }, (_, at) => [`x-token-${at}`, `secret-${at}-${"a/+".repeat(30)}`]),
        ),
      );
      measured(() => strikeSecrets(text, secrets));
    },
  );

  test("among no others leaves a text as it is", () => {
    expect(strikeSecrets("abc…", [])).toBe("abc…");
    expect(strikeSecrets("abc…", [""])).toBe("abc…");
  });
});

describe("the secrets of a request", () => {
  test("are its own headers, its parameters and what a basic header holds, but no header of the protocol", () => {
    const headers = {
      authorization: `Basic ${btoa("user:pass-0123456")}`,
      "x-own": "own-0123456",
      "a2a-version": "12345678.0",
    };
    const secrets = secretsIn(headers, { key: "query-0123456" });
    expect(secrets).toEqual(expect.arrayContaining(["pass-0123456", "own-0123456", "query-0123456"]));
    expect(secrets).not.toContain("12345678.0");
  });
});
