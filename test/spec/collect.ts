import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";

/** Titles of the tests of one file, each with the groups that it is in: `"a list > goes on"`. */
export function titlesIn(text: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    const call = ts.isCallExpression(node) ? readCall(node) : undefined;
    if (call?.kind === "test") found.push([...groups, call.title].join(" > "));
    const inner = call?.kind === "describe" ? [...groups, call.title] : groups;
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(ts.createSourceFile("a.test.ts", text, ts.ScriptTarget.Latest, true), []);
  return found;
}

/** Titles of all tests, by the path of their file below `test/`, without its ending. */
export function collectTitles(): ReadonlyMap<string, readonly string[]> {
  const paths = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".test.ts"),
  );
  return new Map(
    paths.map((path) => [
      path.replaceAll("\\", "/").slice(0, -".test.ts".length),
      titlesIn(readFileSync(`test/${path}`, "utf8")),
    ]),
  );
}

/** A test or a group; what is skipped or only planned is none, since it proves nothing. */
function readCall(
  node: ts.CallExpression,
): { readonly kind: "test" | "describe"; readonly title: string } | undefined {
  const [first] = node.arguments;
  if (!first || !ts.isStringLiteralLike(first)) return undefined;
  const called = ts.isCallExpression(node.expression) ? node.expression.expression : node.expression;
  const text = called.getText().replace(/<.*>$/s, "");
  const kind = /^(test|it|describe)(?:\.(?:each|sequential|concurrent))?$/.exec(text)?.[1];
  if (kind === undefined) return undefined;
  return { kind: kind === "describe" ? "describe" : "test", title: first.text };
}
