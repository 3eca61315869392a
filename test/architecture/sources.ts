import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";

/** Texts of files by their path from the project's root. */
export type Sources = Readonly<Record<string, string>>;

/** Reads every text file below some folders, or the files themselves; what does not exist is left out. */
export function readSources(...paths: readonly string[]): Sources {
  const found: [string, string][] = [];
  const visit = (path: string) => {
    if (/\.(?:[cm]?[jt]s|json|md)$/.test(path)) return found.push([path, readFileSync(path, "utf8")]);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory() || entry.isFile()) visit(`${path}/${entry.name}`);
    }
  };
  for (const path of paths) {
    try {
      visit(path);
    } catch (error) {
      if (
        !(error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR"].includes(String(error.code)))
      ) {
        throw error;
      }
    }
  }
  return Object.fromEntries(found);
}

const parsed = new Map<string, ts.SourceFile>();

/** The TypeScript files of the library among some sources, parsed. */
export function sourceFiles(sources: Sources, under = "src/"): readonly ts.SourceFile[] {
  return Object.entries(sources)
    .filter(([path]) => path.startsWith(under) && path.endsWith(".ts"))
    .map(([path, text]) => {
      const known = parsed.get(path);
      if (known?.text === text) return known;
      const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
      parsed.set(path, file);
      return file;
    });
}

/** A node and every node below it, outermost first; comments are none. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (inner: ts.Node) => {
    found.push(inner);
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}

/** `path:line`, the beginning of a finding. */
export function at(node: ts.Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

/** One import of a file, in whichever of its forms: static, types only, re-export, dynamic, `require`, `import("…")`. */
export interface Import {
  /** `path:line` of the import. */
  readonly at: string;
  /** What is imported; `undefined` when it is computed, so that nobody can tell. */
  readonly specifier: string | undefined;
  /** Path of the imported file, when it is one of ours. */
  readonly path: string | undefined;
}

/** All imports of a file. */
export function importsOf(file: ts.SourceFile): readonly Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, target: ts.Node | undefined) => {
    const specifier = target && ts.isStringLiteralLike(target) ? target.text : undefined;
    found.push({ at: at(node), specifier, path: specifier && resolve(file.fileName, specifier) });
  };
  for (const node of nodesOf(file)) {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node, node.moduleSpecifier);
    else if (ts.isExternalModuleReference(node)) add(node, node.expression);
    else if (ts.isImportTypeNode(node)) {
      add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    } else if (ts.isCallExpression(node) && isLoader(node.expression)) add(node, node.arguments[0]);
  }
  for (const reference of file.typeReferenceDirectives) {
    found.push({ at: `${file.fileName}:1`, specifier: reference.fileName, path: undefined });
  }
  return found;
}

function isLoader(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require")
  );
}

function resolve(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

/** A room or, for a file directly in `src/`, a door: `room` is `undefined` there. */
export function placeOf(path: string): { readonly room: string | undefined } | undefined {
  const [top, second, ...rest] = path.split("/");
  if (top !== "src" || second === undefined) return undefined;
  return { room: rest.length > 0 ? second : undefined };
}

/** The rows of the table under a heading of a Markdown text, without its head, cells trimmed. */
export function tableUnder(markdown: string, heading: string): readonly (readonly string[])[] {
  const section = markdown.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
