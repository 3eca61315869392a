import ts from "typescript";
import { type Rule, testRules } from "./rule.ts";
import { at, nodesOf, type Sources, sourceFiles } from "./sources.ts";

/** Makes a check out of a judgement of one node: `undefined`, or what is wrong with it. */
const eachNode =
  (judge: (node: ts.Node, path: string) => string | undefined) =>
  (sources: Sources): string[] =>
    sourceFiles(sources).flatMap((file) =>
      nodesOf(file).flatMap((node) => {
        const problem = judge(node, file.fileName);
        return problem === undefined ? [] : [`${at(node)} ${problem}`];
      }),
    );

const inUtil = (...texts: readonly string[]): Sources[] => texts.map((text) => ({ "src/util/a.ts": text }));

/** Whether an identifier means the global of its name: it is read, and not as a member of something else. */
function isGlobal(node: ts.Node, names: readonly string[]): node is ts.Identifier {
  if (!ts.isIdentifier(node) || !names.includes(node.text)) return false;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
    return (
      ts.isIdentifier(parent.expression) && ["globalThis", "self", "window"].includes(parent.expression.text)
    );
  }
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  const isName = "name" in parent && parent.name === node;
  const isOldName = "propertyName" in parent && parent.propertyName === node;
  return !isName && !isOldName && !ts.isQualifiedName(parent);
}

const timers = [
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "requestAnimationFrame",
  "requestIdleCallback",
];
const clocks = ["Date", "performance", "Temporal"];
const nodeGlobals = ["Buffer", "process", "global", "require", "module", "__dirname", "__filename"];
const plainErrors = [
  "Error",
  "AggregateError",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "URIError",
];

const findTime = eachNode((node, path) => {
  if (path === "src/util/clock.ts") return undefined;
  if (isGlobal(node, [...timers, ...clocks])) {
    const isTurn = node.text === "setImmediate" && path.startsWith("src/testing/");
    return isTurn ? undefined : `uses ${node.text}: time comes from util/clock.ts`;
  }
  const isTimeout = ts.isPropertyAccessExpression(node) && node.getText() === "AbortSignal.timeout";
  return isTimeout ? "uses AbortSignal.timeout: time comes from util/clock.ts" : undefined;
});

const findNodeGlobals = eachNode((node, path) =>
  isGlobal(node, nodeGlobals) && !path.startsWith("src/testing/")
    ? `uses ${node.text}, which only Node has`
    : undefined,
);

const findPlainErrors = eachNode((node) => {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return undefined;
  return isGlobal(node.expression, plainErrors) ? `makes a plain ${node.expression.text}` : undefined;
});

const findConsole = eachNode((node) => (isGlobal(node, ["console"]) ? "uses console" : undefined));

const findAny = eachNode((node) => (node.kind === ts.SyntaxKind.AnyKeyword ? "says any" : undefined));

const findNonNull = eachNode((node) => {
  const isDefinite =
    (ts.isPropertyDeclaration(node) || ts.isVariableDeclaration(node)) && node.exclamationToken !== undefined;
  return ts.isNonNullExpression(node) || isDefinite ? "says ! of something that may not be there" : undefined;
});

const findHushed = (sources: Sources) =>
  sourceFiles(sources).flatMap((file) =>
    file.text.split("\n").flatMap((line, index) => {
      const hush = /@ts-(?:ignore|nocheck|expect-error)/.exec(line)?.[0];
      return hush === undefined ? [] : [`${file.fileName}:${index + 1} has ${hush}`];
    }),
  );

const rules: readonly Rule[] = [
  {
    title: "time and timers are in util/clock.ts alone",
    find: findTime,
    bad: inUtil(
      "const now = Date.now();",
      "setTimeout(run, 1);",
      "globalThis.setInterval(run, 1);",
      "const seams = { setTimeout };",
      "const later = setImmediate;",
      "queueMicrotask(run);",
      "const now = performance.now();",
      "let day: Date;",
      "const signal = AbortSignal.timeout(5);",
    ),
    good: [
      ...inUtil(
        "const text = record.Date;",
        "interface Seams { setTimeout: number }",
        "// Date.now()\nconst a = { Date: 1 };",
      ),
      { "src/util/clock.ts": "setTimeout(run, Date.now());" },
      { "src/testing/turn.ts": "setImmediate(run);" },
    ],
  },
  {
    title: "only the scripted agent uses what only Node has",
    find: findNodeGlobals,
    bad: inUtil(`Buffer.from("");`, "process.env.HOME;", "const here = __dirname;"),
    good: [
      ...inUtil("globals.process?.exit();", "const a = { process: 1 };"),
      { "src/testing/a.ts": `Buffer.from("");` },
    ],
  },
  {
    title: "no plain Error is made",
    find: findPlainErrors,
    bad: inUtil(`throw new Error("no");`, `throw Error("no");`, `const a = new RangeError("no");`),
    good: inUtil(
      `throw new TypeError("no");`,
      `class MyError extends Error {}`,
      "const a = cause instanceof Error;",
    ),
  },
  {
    title: "nothing is written to the console",
    find: findConsole,
    bad: inUtil("console.log(1);", "const { log } = console;"),
    good: inUtil("// console.log(1);", "options.console.log(1);"),
  },
  {
    title: "no type is any",
    find: findAny,
    bad: inUtil("let a: any;", "const b = c as any;", "type D = Record<string, any>;"),
    good: inUtil("// any\nlet any: unknown;"),
  },
  {
    title: "no value is said to be there without a check",
    find: findNonNull,
    bad: inUtil("const b = a!;", "a!.b();", "class A { b!: string; }", "let c!: string;"),
    good: inUtil("const b = !a;", "const c = a !== b;"),
  },
  {
    title: "no check of the compiler is switched off",
    find: findHushed,
    bad: inUtil("// @ts-ignore", "/* @ts-expect-error */", "// @ts-nocheck"),
  },
];

testRules("the style", rules, "src");
