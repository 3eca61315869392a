import ts from "typescript";
import { type Rule, testRules } from "./rule.ts";
import { at, type Sources, sourceFiles } from "./sources.ts";

const base = "A2ALeaseError";
const unionName = "AnyA2ALeaseError";

/** The classes of `src/errors/` that can be thrown. */
function errorClasses(sources: Sources): readonly ts.ClassDeclaration[] {
  return sourceFiles(sources, "src/errors/")
    .flatMap((file) => file.statements)
    .filter(ts.isClassDeclaration)
    .filter((node) => !has(node, ts.SyntaxKind.AbstractKeyword));
}

const has = (node: ts.HasModifiers, kind: ts.SyntaxKind) =>
  node.modifiers?.some((item) => item.kind === kind) ?? false;

/** Text of a literal member, static or not; `undefined` when it is missing or computed. */
function literal(node: ts.ClassDeclaration, name: string, isStatic = false): string | undefined {
  const member = node.members
    .filter(ts.isPropertyDeclaration)
    .find((item) => item.name.getText() === name && has(item, ts.SyntaxKind.StaticKeyword) === isStatic);
  const value = member?.initializer;
  const isFixed = member !== undefined && has(member, ts.SyntaxKind.ReadonlyKeyword);
  return isFixed && value && ts.isStringLiteral(value) ? value.text : undefined;
}

const nameOf = (node: ts.ClassDeclaration) => node.name?.text ?? "(no name)";

function findWrongNames(sources: Sources): string[] {
  return errorClasses(sources).flatMap((node) => {
    const found = literal(node, "name");
    return found === nameOf(node) ? [] : [`${at(node)} ${nameOf(node)} has the name ${found}`];
  });
}

function findWrongCodes(sources: Sources): string[] {
  const owners = new Map<string, string>();
  return errorClasses(sources).flatMap((node) => {
    const code = literal(node, "code", true);
    if (code === undefined || !/^[A-Z][A-Z0-9_]*$/.test(code)) return [`${at(node)} has no static code`];
    const problems = [];
    if (literal(node, "code") !== code) problems.push(`${at(node)} has another code on its objects`);
    if (owners.has(code)) problems.push(`${at(node)} shares ${code} with ${owners.get(code)}`);
    owners.set(code, nameOf(node));
    return problems;
  });
}

function findOutsideUnion(sources: Sources): string[] {
  const union = sourceFiles(sources, "src/errors/")
    .flatMap((file) => file.statements)
    .filter(ts.isTypeAliasDeclaration)
    .find((node) => node.name.text === unionName)?.type;
  const members = union && ts.isUnionTypeNode(union) ? union.types : union ? [union] : [];
  const names = members.map((member) => (ts.isTypeReferenceNode(member) ? member.typeName.getText() : ""));
  return errorClasses(sources)
    .filter((node) => !names.includes(nameOf(node)))
    .map((node) => `${at(node)} ${nameOf(node)} is not in ${unionName}`);
}

function findUndocumentedFields(sources: Sources): string[] {
  const classes = sourceFiles(sources, "src/errors/").flatMap((file) =>
    file.statements.filter(ts.isClassDeclaration),
  );
  return classes.flatMap((node) =>
    node.members
      .filter(ts.isPropertyDeclaration)
      .filter((item) => !ts.isPrivateIdentifier(item.name))
      .filter((item) => !has(item, ts.SyntaxKind.StaticKeyword))
      .filter(
        (item) =>
          !has(item, ts.SyntaxKind.OverrideKeyword) || !["name", "code"].includes(item.name.getText()),
      )
      .filter((item) => ts.getJSDocCommentsAndTags(item).length === 0)
      .map((item) => `${at(item)} ${nameOf(node)}.${item.name.getText()} has no doc comment`),
  );
}

function findNotOpened(sources: Sources): string[] {
  const opened = sourceFiles(sources, "src/index.ts")
    .flatMap((file) => file.statements)
    .flatMap((node) => (ts.isExportDeclaration(node) && node.exportClause ? [node] : []))
    .flatMap((node) =>
      node.exportClause && ts.isNamedExports(node.exportClause)
        ? node.exportClause.elements.map((item) => ({
            name: item.name.text,
            isType: node.isTypeOnly || item.isTypeOnly,
          }))
        : [],
    );
  const isOpen = (name: string) => opened.some((item) => item.name === name && !item.isType);
  const isOpenType = opened.some((item) => item.name === unionName);
  const classes = [...errorClasses(sources).map(nameOf), base];
  return [
    ...classes.filter((name) => !isOpen(name)).map((name) => `src/index.ts does not export ${name}`),
    ...(isOpenType ? [] : [`src/index.ts does not export ${unionName}`]),
    ...opened
      .filter(({ name }) => name.endsWith("Schema"))
      .map(({ name }) => `src/index.ts exports the schema ${name}`),
  ];
}

const sample = (text: string, index = ""): Sources => ({ "src/errors/a.ts": text, "src/index.ts": index });
const sound = `
/** An error. */
export class LostError extends A2ALeaseError {
  static readonly code = "LOST";
  override readonly name = "LostError";
  override readonly code = "LOST";
  /** Where. */
  readonly url: string;
  readonly #renew: () => void;
}
abstract class RemoteError extends A2ALeaseError {}
export type AnyA2ALeaseError = | LostError;
`;
const door = `export { A2ALeaseError, LostError } from "./errors/a.ts";\nexport type { AnyA2ALeaseError } from "./errors/a.ts";`;

/** The sound sample with one thing replaced. */
const broken = (what: string, by: string) => sample(sound.replace(what, by), door);

const rules: readonly Rule[] = [
  {
    title: "every error class has its own name as a literal",
    find: findWrongNames,
    bad: [
      broken(`"LostError"`, `"LoseError"`),
      broken(`override readonly name = "LostError";`, ""),
      broken(`"LostError"`, "new.target.name"),
    ],
    good: [sample(sound)],
  },
  {
    title: "every error class has a code of its own, on the class and on its objects",
    find: findWrongCodes,
    bad: [
      broken(`static readonly code = "LOST";`, ""),
      broken(`static readonly code = "LOST";`, `static readonly code = "lost";`),
      broken(`override readonly code = "LOST";`, `override readonly code = "FOUND";`),
      sample(`${sound}${sound.replace("LostError", "GoneError")}`),
    ],
    good: [sample(sound)],
  },
  {
    title: "every error class is in the union",
    find: findOutsideUnion,
    bad: [broken("| LostError;", "| GoneError;"), broken("export type AnyA2ALeaseError = | LostError;", "")],
    good: [sample(sound)],
  },
  {
    title: "every field of an error has a doc comment",
    find: findUndocumentedFields,
    bad: [broken("/** Where. */", ""), broken("/** Where. */", "// Where.")],
    good: [sample(sound)],
  },
  {
    title: "the root door opens every error class, the base, the union, and no schema",
    find: findNotOpened,
    bad: [
      sample(sound, door.replace(", LostError", "")),
      sample(sound, door.replace("A2ALeaseError, ", "")),
      sample(sound, door.replace("AnyA2ALeaseError", "Other")),
      sample(sound, `export type ${door.slice("export ".length)}`),
      sample(sound, `${door}\nexport { taskSchema } from "./model/task.ts";`),
    ],
    good: [sample(sound, door)],
  },
];

testRules("the errors", rules, "src");
