import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const parse = (path: string) =>
  ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);

/** The names that a door opens. */
function openedNames(door: string): readonly string[] {
  return parse(door)
    .statements.filter(ts.isExportDeclaration)
    .flatMap(({ exportClause }) =>
      exportClause && ts.isNamedExports(exportClause)
        ? exportClause.elements.map(({ name }) => name.text)
        : [],
    );
}

/** The members of an interface, or the names in a union of types. */
function membersOf(path: string, type: string): readonly string[] {
  const found = parse(path).statements.flatMap((statement) => {
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === type)
      return statement.members.map((member) => member.name?.getText().replaceAll('"', "") ?? "");
    if (ts.isTypeAliasDeclaration(statement) && statement.name.text === type)
      return ts.isUnionTypeNode(statement.type) ? statement.type.types.map((part) => part.getText()) : [];
    return [];
  });
  if (found.length === 0) throw new TypeError(`${path} has no ${type}`);
  return found.map((name) => name.replaceAll('"', ""));
}

/** Everything that is set as code in the first column of the tables under a heading, up to the next one of its level. */
function namesInTables(markdown: string, heading: string): readonly string[] {
  const [, section = ""] = markdown.split(`\n## ${heading}\n`);
  const rows = (section.split(/^## /m)[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
  return rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([\w-]+)`/g)].map((match) => match[1] ?? ""),
  );
}

/** Names that a text does not set as code. */
function missingIn(markdown: string, names: readonly string[]): readonly string[] {
  const coded = new Set([...markdown.matchAll(/`([^`\n]+)`/g)].flatMap((match) => match[1]?.split(/\W+/)));
  return names.filter((name) => !coded.has(name));
}

const readme = readFileSync("README.md", "utf8");
const sorted = (names: readonly string[]) => [...names].sort();

describe("CHANGELOG.md", () => {
  const doors = readdirSync("src").filter((name) => name.endsWith(".ts"));
  test.each(doors)("names all that %s opens", (door) => {
    expect(missingIn(readFileSync("CHANGELOG.md", "utf8"), openedNames(`src/${door}`))).toEqual([]);
  });
});

describe("README.md", () => {
  test("has a row for every error", () => {
    const wanted = membersOf("src/errors/any.ts", "AnyA2ALeaseError");
    expect(sorted(namesInTables(readme, "Errors"))).toEqual(sorted(wanted));
  });
  test("has a row for every option", () => {
    const wanted = membersOf("src/client/options.ts", "ClientOptions");
    expect(sorted(namesInTables(readme, "Options"))).toEqual(sorted(wanted));
  });
  test("has a row for every event", () => {
    const wanted = membersOf("src/model/client-events.ts", "ClientEvents");
    expect(sorted(namesInTables(readme, "Events"))).toEqual(sorted(wanted));
  });
  test("has a row for every limit", () => {
    const wanted = membersOf("src/wire/limits.ts", "Limits");
    expect(sorted(namesInTables(readme, "Limits"))).toEqual(sorted(wanted));
  });
  test("has a row for every rule of a task's life", () => {
    const wanted = membersOf("src/model/observation.ts", "LifecycleRule");
    expect(namesInTables(readme, "Trust")).toEqual(expect.arrayContaining([...wanted]));
  });
});

describe("the checks see", () => {
  test("a name that a text lacks", () => {
    expect(missingIn("`a`, `b.c()`", ["a", "b", "c", "d"])).toEqual(["d"]);
  });
  test("the names of a table, and of no other section", () => {
    const markdown = "\n## A\n\n| x |\n| --- |\n| `a`, `b` | `c` |\n\n### B\n\n| `d` |\n\n## C\n\n| `e` |\n";
    expect(namesInTables(markdown, "A")).toEqual(["a", "b", "d"]);
  });
});
