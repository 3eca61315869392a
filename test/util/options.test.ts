import { describe, expect, test } from "vitest";
import { checkOptions, type OptionKinds } from "../../src/util/options.ts";

interface Shelf {
  readonly heightMs?: number;
  readonly label?: string;
  readonly isOpen?: boolean;
  readonly books?: readonly string[];
  readonly sort?: "up" | "down";
  readonly inner?: object;
  readonly hear?: () => void;
  readonly whatever?: unknown;
}

const kinds: OptionKinds<Shelf> = {
  heightMs: "amount",
  label: "text",
  isOpen: "flag",
  books: "list",
  sort: ["up", "down"],
  inner: "object",
  hear: "function",
  whatever: "any",
};

const check = (given: unknown, option?: string) => () => checkOptions(given as Shelf, kinds, option);

describe("options are taken", () => {
  test.each<unknown>([
    undefined,
    {},
    Object.create(null),
    { heightMs: 0, label: "", isOpen: false, books: [], sort: "up", inner: {}, hear() {}, whatever: null },
    { heightMs: Number.POSITIVE_INFINITY },
    { heightMs: undefined, label: undefined },
    { lable: undefined },
  ])("%j", (given) => {
    expect(check(given)).not.toThrow();
  });
});

describe("options are refused", () => {
  test.each<[unknown, string]>([
    [{ lable: "a" }, "lable: is no option here, wanted some of books, hear, heightMs, "],
    [{ toString: "a" }, "toString: is no option here"],
    [JSON.parse('{"__proto__": 1}'), "__proto__: is no option here"],
    [{ heightMs: "5" }, "heightMs: found string, wanted a number of at least 0"],
    [{ heightMs: Number.NaN }, "heightMs: found NaN, wanted a number of at least 0"],
    [{ heightMs: -1 }, "heightMs: found -1, wanted a number of at least 0"],
    [{ label: 5 }, "label: found 5, wanted a text"],
    [{ isOpen: "true" }, "isOpen: found string, wanted true or false"],
    [{ isOpen: null }, "isOpen: found null, wanted true or false"],
    [{ books: "a" }, "books: found string, wanted a list"],
    [{ sort: "sideways" }, 'sort: found "sideways", wanted "up" or "down"'],
    [{ sort: null }, 'sort: found null, wanted "up" or "down"'],
    [{ inner: [] }, "inner: found a list, wanted an object"],
    [{ hear: {} }, "hear: found object, wanted a function"],
    [null, "options: found null, wanted an object"],
    ["a", "options: found string, wanted an object"],
    [[], "options: found a list, wanted an object"],
  ])("%j", (given, message) => {
    expect(check(given)).toThrow(TypeError);
    expect(check(given)).toThrow(message);
  });

  test("by the whole way to them", () => {
    expect(check({ lable: 1 }, "shelf")).toThrow("shelf.lable: is no option here");
    expect(check({ label: 1 }, "shelf")).toThrow("shelf.label: found 1, wanted a text");
    expect(check(null, "shelf")).toThrow("shelf: found null, wanted an object");
  });

  test("and no text of the caller's is repeated but a name and a choice", () => {
    for (const name of ["heightMs", "isOpen", "books", "inner", "hear"]) {
      expect(check({ [name]: "hunter2" })).toThrow(/^(?!.*hunter2)/);
    }
  });
});
