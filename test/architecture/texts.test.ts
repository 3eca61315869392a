import ts from "typescript";
import { type Rule, testRules } from "./rule.ts";
import { at, placeOf, type Sources, sourceFiles } from "./sources.ts";

function hasDoc(node: ts.Node): boolean {
  return ts.getJSDocCommentsAndTags(node).some((doc) => ts.isJSDoc(doc) && doc.comment?.length);
}

const isExported = (node: ts.Node) =>
  ts.canHaveModifiers(node) &&
  ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** Members that a user sees; a static `code` and what overrides a documented member speak for themselves. */
function publicMembers(node: ts.Node): readonly ts.Node[] {
  if (ts.isInterfaceDeclaration(node)) return node.members;
  if (!ts.isClassDeclaration(node)) return [];
  return node.members.filter((member) => {
    const kinds = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []).map(({ kind }) => kind) : [];
    const hidden = [
      ts.SyntaxKind.PrivateKeyword,
      ts.SyntaxKind.ProtectedKeyword,
      ts.SyntaxKind.OverrideKeyword,
    ];
    const isCode = kinds.includes(ts.SyntaxKind.StaticKeyword) && member.name?.getText() === "code";
    const isPrivate = member.name !== undefined && ts.isPrivateIdentifier(member.name);
    if (isCode || isPrivate || ts.isConstructorDeclaration(member)) return false;
    return !kinds.some((kind) => hidden.includes(kind)) && !ts.isSemicolonClassElement(member);
  });
}

const nameOf = (node: ts.Node) =>
  "name" in node && node.name ? (node.name as ts.Node).getText() : node.getText().split("\n")[0];

/** `path#name` of everything that a door opens. */
function openedNames(sources: Sources): ReadonlySet<string> {
  const doors = sourceFiles(sources).filter((file) => placeOf(file.fileName)?.room === undefined);
  const lists = doors.flatMap((file) => file.statements.filter(ts.isExportDeclaration));
  return new Set(
    lists.flatMap(({ exportClause, moduleSpecifier }) =>
      exportClause &&
      ts.isNamedExports(exportClause) &&
      moduleSpecifier &&
      ts.isStringLiteral(moduleSpecifier)
        ? exportClause.elements.map(
            (item) =>
              `${moduleSpecifier.text.replace("./", "src/")}#${(item.propertyName ?? item.name).text}`,
          )
        : [],
    ),
  );
}

const findUndocumented = (sources: Sources) => {
  const names = openedNames(sources);
  return sourceFiles(sources).flatMap((file) => {
    const documented = new Set<string | undefined>();
    return file.statements.filter(isExported).flatMap((statement) => {
      const isSeen =
        file.fileName.startsWith("src/model/") || names.has(`${file.fileName}#${nameOf(statement)}`);
      const missing = [statement, ...(isSeen ? publicMembers(statement) : [])].filter((node) => {
        const overloads =
          ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node);
        const name = overloads ? `${nameOf(statement)}.${nameOf(node)}` : undefined;
        if (name !== undefined && documented.has(name)) return false;
        documented.add(name);
        return !hasDoc(node);
      });
      return missing.map((node) => `${at(node)} ${nameOf(node)} has no doc comment`);
    });
  });
};

const findUnnamedExports = (sources: Sources) =>
  sourceFiles(sources).flatMap((file) =>
    file.statements.flatMap((statement) => {
      const isDefault =
        ts.isExportAssignment(statement) ||
        (ts.canHaveModifiers(statement) &&
          ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword));
      if (isDefault) return [`${at(statement)} exports without a name`];
      const isBarrel = ts.isExportDeclaration(statement) && file.fileName.split("/").length > 2;
      return isBarrel ? [`${at(statement)} exports away from where it is declared; only doors do`] : [];
    }),
  );

const maxLines = 250;
const findLongFiles = (sources: Sources) =>
  sourceFiles(sources).flatMap((file) => {
    const lines = file.text.trimEnd().split("\n").length;
    // A door is a list, as long as what it opens.
    const isRoom = file.fileName.split("/").length > 2;
    return isRoom && lines > maxLines
      ? [`${file.fileName} has ${lines} lines, wanted ${maxLines} at most`]
      : [];
  });

const strayWords = [
  /\b(?:issue|ticket|PR|pull request)s? ?#?\d+/i,
  /\b(?:this|the) ticket\b/i,
  /\b(?:this|last|next|previous|earlier|another|parallel) session\b/i,
  /\b(?:design|architecture|field-cases|brief|issues)\.md\b/i,
  /\bfield[- ]cases? [A-K]\d/i,
  /\b(?:TODO|FIXME|XXX)\b/,
  /\b(?:claude|anthropic|chatgpt)\b/i,
];
const absolutePath = /(?:^|[\s"'`(=])(?:\/(?:work|home|root|Users|tmp|var|usr|opt|mnt|private)\/|[A-Z]:\\)/;

/** The folder of these checks is left out: its samples hold what it looks for. */
const findStrayWords = (sources: Sources) =>
  Object.entries(sources)
    .filter(([path]) => !path.startsWith("test/architecture/"))
    .flatMap(([path, text]) =>
      text.split("\n").flatMap((line, index) =>
        [...strayWords, absolutePath].flatMap((pattern) => {
          const found = pattern.exec(line)?.[0].trim();
          return found === undefined ? [] : [`${path}:${index + 1} says ${found}`];
        }),
      ),
    );

const inUtil = (...texts: readonly string[]): Sources[] => texts.map((text) => ({ "src/util/a.ts": text }));

/** A sample whose `A` a door opens. */
const opened = (text: string): Sources => ({
  "src/util/a.ts": text,
  "src/index.ts": `export type { A as B } from "./util/a.ts";`,
});

const rules: readonly Rule[] = [
  {
    title: "every export, and every member that a user sees, has a doc comment",
    find: findUndocumented,
    bad: [
      ...inUtil(
        "export const a = 1;",
        "export function a() {}",
        "// no doc\nexport type A = 1;",
        "/** @internal */\nexport class A {}",
        "/** Doc. */\nconst a = 1;\nexport const b = 2;",
      ),
      { "src/model/a.ts": "/** Doc. */\nexport interface A { b: string; }" },
      opened("/** Doc. */\nexport interface A { b: string; }"),
      opened("/** Doc. */\nexport class A { b() {} }"),
    ],
    good: [
      ...inUtil(
        "const a = 1;",
        "/** Doc. */\nexport const a = 1;",
        "/**\n * Doc.\n */\nexport function a(b: 1): 1;\nexport function a(b: 1) { return b; }",
        "/** Doc. */\nexport interface Inner { b: string; }",
      ),
      opened(
        "/** Doc. */\nexport class A { #b = 1; private c = 2; override d() {} constructor() {} static readonly code = 3; }",
      ),
    ],
  },
  {
    title: "exports have names, and stand where they are declared",
    find: findUnnamedExports,
    bad: inUtil(
      "export default 1;",
      "export default function a() {}",
      "const a = 1;\nexport { a };",
      `export { a } from "./b.ts";`,
    ),
    good: [{ "src/index.ts": `export { a } from "./util/a.ts";` }, ...inUtil("export const a = 1;")],
  },
  {
    title: `no file has more than ${maxLines} lines`,
    find: findLongFiles,
    bad: inUtil("\n".repeat(maxLines).concat("const a = 1;\n")),
    good: inUtil("\n".repeat(maxLines - 1).concat("const a = 1;\n")),
  },
];

testRules("the exports and files", rules, "src");

const words: Rule = {
  title: "texts speak of the library, not of how or where it was written",
  find: findStrayWords,
  bad: [
    "as issue 2 asks",
    "see #ticket 12",
    "left to the next session",
    "as design.md says",
    "field case A12",
    "// TODO",
    `readFileSync("/home/somebody/card.json")`,
    "/work/main",
    String.raw`C:\cards`,
  ].map((line) => ({ "test/a.test.ts": line })),
  good: ["the issues of a card", "a URL as https://example.com/home/x", "a fixture of 3 tickets"].map(
    (line) => ({
      "README.md": line,
    }),
  ),
};

testRules("the words", [words], "src", "test", "examples", "README.md", "CHANGELOG.md", "package.json");
