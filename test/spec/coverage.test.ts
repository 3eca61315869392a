import { describe, expect, test } from "vitest";
import { collectTitles, titlesIn } from "./collect.ts";
import { awaited, proven, type Requirement } from "./requirement.ts";
import { bindings } from "./requirements/bindings.ts";
import { cards } from "./requirements/cards.ts";
import { operations } from "./requirements/operations.ts";

const requirements: readonly Requirement[] = [...operations, ...bindings, ...cards];

type Titles = ReadonlyMap<string, readonly string[]>;

const sectionOf = ({ id }: Requirement) => id.slice(0, id.lastIndexOf("-"));

function findUncited(rows: readonly Requirement[]): readonly string[] {
  return rows.filter(({ tests, awaiting }) => tests.length === 0 && !awaiting).map(({ id }) => id);
}

function findDoubled(rows: readonly Requirement[]): readonly string[] {
  const ids = rows.map(({ id }) => id);
  return ids.filter((id, at) => ids.indexOf(id) !== at || !/^(?:\d+|A)(?:\.\d+)*-\d+$/.test(id));
}

/** Citations that name no test, or more than one. */
function findWrongCitations(rows: readonly Requirement[], titles: Titles): readonly string[] {
  return rows.flatMap(({ id, tests }) =>
    tests.flatMap((citation) => {
      const [, file = "", title = ""] = /^([^:]+): (.+)$/s.exec(citation) ?? [];
      const found = (titles.get(file) ?? []).filter((name) => name === title || name.endsWith(` > ${title}`));
      return found.length === 1 ? [] : [`${id} cites ${found.length} tests by ${citation}`];
    }),
  );
}

function tableOf(rows: readonly Requirement[]): string {
  const lines = rows.map((row) => {
    const proof = row.awaiting ? `awaits ${row.awaiting}` : row.tests.join("; ");
    return `${sectionOf(row).padEnd(7)} ${row.level.padEnd(10)} ${row.text} | ${proof}`;
  });
  const open = rows.filter(({ awaiting }) => awaiting !== undefined).length;
  return [...lines, `${rows.length} requirements, ${rows.length - open} proven, ${open} awaited`].join("\n");
}

describe("what A2A 1.0 asks of a client", () => {
  test("is proven by a test, requirement by requirement, or awaits a named part", () => {
    console.log(tableOf(requirements));

    expect(findUncited(requirements)).toEqual([]);
    expect(findDoubled(requirements)).toEqual([]);
  });

  test("is proven by tests that there are", () => {
    expect(findWrongCitations(requirements, collectTitles())).toEqual([]);
  });
});

describe("the checks see", () => {
  const titles: Titles = new Map([["flow/a", ["one > works", "two > works", "fails"]]]);
  const cite = (...tests: readonly string[]) => [proven("1-1", "MUST", "something", ...tests)];

  test("a requirement without a test", () => {
    const rows = [...cite(), ...cite("flow/a: fails"), awaited("1-2", "MUST", "something", "a part")];
    expect(findUncited(rows)).toEqual(["1-1"]);
  });

  test("an id that is there twice, and one that names no section", () => {
    expect(findDoubled([...cite(), ...cite(), awaited("one", "MUST", "", "")])).toEqual(["1-1", "one"]);
  });

  test("a citation of no test, of a test elsewhere, and of one of two", () => {
    const wrong = ["flow/a: gone", "flow/b: fails", "flow/a: works", "flow/a", "flow/a: wo"];
    expect(findWrongCitations(cite(...wrong), titles)).toHaveLength(wrong.length);
    expect(findWrongCitations(cite("flow/a: fails", "flow/a: one > works"), titles)).toEqual([]);
  });

  test("tests and their groups, and none that is skipped", () => {
    const text = `
      describe("a", () => {
        test("b", () => {});
        describe.each([1])("c %d", () => test.each<[string]>([["x"]])("d %s", () => {}));
        test.skip("e", () => {});
        test.todo("f");
      });
      test("g", () => { test(title, () => {}); });
    `;
    expect(titlesIn(text)).toEqual(["a > b", "a > c %d > d %s", "g"]);
  });
});
