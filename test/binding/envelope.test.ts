import { expect, test } from "vitest";
import { readEnvelope } from "../../src/binding/envelope.ts";

test.each([
  [{ jsonrpc: "2.0", id: 1, result: 5 }, 5],
  [{ jsonrpc: "2.0", id: "1", result: 5 }, 5],
  [{ jsonrpc: "2.0", id: 1, result: 5, error: null }, 5],
  [{ jsonrpc: "2.0", id: 1, result: null }, null],
  [{ jsonrpc: "2.0", id: 1 }, undefined],
])("%j is a result", (wire, result) => {
  expect(readEnvelope(wire, 1)).toEqual({ kind: "result", result, deviations: [] });
});

test.each([
  [{ id: 1, result: 5 }, "found nothing"],
  [{ jsonrpc: "1.0", id: 1, result: 5 }, 'found string "1.0"'],
])("%j is a result with a deviation", (wire, found) => {
  expect(readEnvelope(wire, 1)).toEqual({
    kind: "result",
    result: 5,
    deviations: [{ kind: "wrong-jsonrpc-version", path: "$.jsonrpc", message: `${found}, wanted "2.0"` }],
  });
});

test.each([
  { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "gone" } },
  { jsonrpc: "2.0", id: null, error: { code: -32001, message: "gone" } },
  { jsonrpc: "2.0", id: 99, error: { code: -32001, message: "gone" } },
  { error: { code: -32001, message: "gone" }, result: 5 },
])("%j is an error, whatever its id is", (wire) => {
  expect(readEnvelope(wire, 1)).toMatchObject({ kind: "error", failure: { code: -32001, message: "gone" } });
});

test.each([
  [{}, "$", "found neither result nor error, wanted one of them"],
  [{ task: {} }, "$", "found neither result nor error, wanted one of them"],
  [{ jsonrpc: "2.0", id: 2, result: 5 }, "$.id", "found number 2, wanted 1, the id of the request"],
  [{ jsonrpc: "2.0", id: null, result: 5 }, "$.id", "found null, wanted 1, the id of the request"],
  [{ jsonrpc: "2.0", result: 5 }, "$.id", "found nothing, wanted 1, the id of the request"],
  [{ jsonrpc: "2.0", id: [1], result: 5 }, "$.id", "found an array of 1, wanted 1, the id of the request"],
  [[{ jsonrpc: "2.0", id: 1, result: 5 }], "$", "found an array of 1, wanted a JSON-RPC response"],
  [null, "$", "found null, wanted a JSON-RPC response"],
  ["ok", "$", 'found string "ok", wanted a JSON-RPC response'],
])("%j is no response to this request", (wire, path, message) => {
  expect(readEnvelope(wire, 1)).toEqual({ kind: "none", issue: { path, message } });
});
