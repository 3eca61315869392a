import { describe, expect, test } from "vitest";
import { readBySchema } from "../../src/model/issues.ts";
import { messageSchema } from "../../src/model/message.ts";
import { partMediaType, partSchema } from "../../src/model/part.ts";

const read = (value: unknown) => readBySchema(partSchema, value);

describe("a part is read as it came", () => {
  test.each([
    ["text", { text: "a" }],
    ["an empty text", { text: "" }],
    ["bytes, byte by byte (K2)", { raw: "AAEC", mediaType: "application/octet-stream", filename: "x.bin" }],
    ["bytes in the other alphabet and without padding", { raw: "_-8" }],
    ["no bytes", { raw: "" }],
    ["a URL", { url: "https://h.example/f" }],
    ["data that is null", { data: null }],
    ["data that is false", { data: false }],
    ["data that is 0", { data: 0 }],
    ["data that is an empty text", { data: "" }],
    ["data that is a list", { data: [null, { a: null }] }],
    ["unknown members, also null ones", { text: "a", kind: "text", "x-a": { b: null }, "x-c": null }],
    ["metadata", { text: "a", metadata: { a: null } }],
  ])("with %s", (_what, part) => {
    expect(read(part)).toEqual({ ok: true, value: part });
  });

  test.each([
    [
      "unset members",
      { text: "a", raw: null, url: null, data: null, metadata: null, filename: null },
      { text: "a" },
    ],
    ["data null beside members that are null too", { text: null, data: null }, { data: null }],
    ["bytes beside data that is unset", { raw: "AA==", data: null }, { raw: "AA==" }],
  ])("with null for absent: %s", (_what, part, value) => {
    expect(read(part)).toEqual({ ok: true, value });
  });
});

test.each([
  [{}, { data: null }],
  [
    { mediaType: "application/json", text: null },
    { mediaType: "application/json", data: null },
  ],
  [
    { data: null, filename: "a" },
    { data: null, filename: "a" },
  ],
])("a part without content, %j, is the value null, as the official server gives it", (part, value) => {
  expect(read(part)).toEqual({ ok: true, value });
});

describe("a part is refused", () => {
  test.each([
    [{ kind: "text" }, "$", "found none of text, raw, url, data; wanted exactly one"],
    [{ kind: "file", file: {} }, "$", "found none of text, raw, url, data; wanted exactly one"],
    [{ text: "a", raw: "AA==" }, "$", "found text and raw of text, raw, url, data; wanted exactly one"],
    [{ text: "", data: false }, "$", "found text and data of text, raw, url, data; wanted exactly one"],
    [{ text: 1 }, "$.text", "found number 1, wanted a string"],
    [{ raw: [0, 1] }, "$.raw", "found an array of 2, wanted a string"],
    [{ text: "a", mediaType: 1 }, "$.mediaType", "found number 1, wanted a string"],
    [{ text: "a", metadata: [] }, "$.metadata", "found an array of 0, wanted an object"],
    ["text", "$", 'found string "text", wanted an object'],
    [null, "$", "found null, wanted an object"],
    [[], "$", "found an array of 0, wanted an object"],
  ])("that is %j", (part, path, message) => {
    expect(read(part)).toEqual({ ok: false, issues: [{ path, message }] });
  });
});

test.each([
  [{ text: "a" }, "text/plain"],
  [{ text: "a", mediaType: "text/markdown" }, "text/markdown"],
  [{ data: null }, "application/json"],
  [{ raw: "" }, undefined],
  [{ url: "u" }, undefined],
])("the media type of %j is %s", (part, type) => {
  expect(partMediaType(part)).toBe(type);
});

describe("a message is read", () => {
  const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "a" }] };

  test.each([
    ["ROLE_USER", "ROLE_USER"],
    ["ROLE_AGENT", "ROLE_AGENT"],
    ["user", "ROLE_USER"],
    ["agent", "ROLE_AGENT"],
    [1, "ROLE_USER"],
    [2, "ROLE_AGENT"],
    [0, "ROLE_UNSPECIFIED"],
    ["assistant", "ROLE_UNSPECIFIED"],
    ["constructor", "ROLE_UNSPECIFIED"],
  ])("with the role %j as %s", (role, meaning) => {
    expect(readBySchema(messageSchema, { ...message, role })).toEqual({
      ok: true,
      value: { ...message, role: meaning },
    });
  });

  test("with nulls as absent and unknown members kept", () => {
    const nulls = { contextId: null, taskId: null, metadata: null, extensions: null, referenceTaskIds: null };
    expect(readBySchema(messageSchema, { ...message, ...nulls, kind: "message" })).toEqual({
      ok: true,
      value: { ...message, kind: "message" },
    });
  });

  test("and everything that is wrong is told, with its path", () => {
    const wrong = {
      messageId: 1,
      role: true,
      parts: [{ text: "a" }, { kind: "text" }],
      extensions: ["a", 1],
    };
    expect(readBySchema(messageSchema, wrong)).toEqual({
      ok: false,
      issues: [
        { path: "$.messageId", message: "found number 1, wanted a string" },
        {
          path: "$.role",
          message: 'found boolean true, wanted one of "ROLE_USER", "ROLE_AGENT", "ROLE_UNSPECIFIED"',
        },
        { path: "$.parts[1]", message: "found none of text, raw, url, data; wanted exactly one" },
        { path: "$.extensions[1]", message: "found number 1, wanted a string" },
      ],
    });
  });
});
