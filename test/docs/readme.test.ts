import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";

/** One fenced block, with the HTML comment right before it: `<!-- examples/quickstart.ts#drift -->`. */
interface Fence {
  readonly language: string;
  readonly text: string;
  readonly source: string | undefined;
  readonly line: number;
}

function fencesOf(markdown: string): readonly Fence[] {
  const block = /(?:<!--\s*(\S+)\s*-->\n+)?^```(\w*)[^\n]*\n(.*?)^```$/gms;
  return [...markdown.matchAll(block)].map((match) => ({
    language: match[2] ?? "",
    text: match[3] ?? "",
    source: match[1],
    line: markdown.slice(0, match.index).split("\n").length,
  }));
}

/** The lines between `// #region name` and `// #endregion name`, moved to the left margin. */
function regionOf(code: string, name: string): string | undefined {
  const lines = code.split("\n");
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  const end = lines.findIndex((line) => line.trim() === `// #endregion ${name}`);
  if (start < 0 || end < start) return undefined;
  const region = lines.slice(start + 1, end).filter((line) => !/^\s*\/\/ #(?:end)?region /.test(line));
  const indents = region.filter((line) => line.trim()).map((line) => line.search(/\S/));
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  return region.map((line) => `${line.slice(indent)}\n`).join("");
}

/** What the checks ask of the project around a text. */
interface Project {
  /** Text of a file, by its path from the root; `undefined` when there is none. */
  read(path: string): string | undefined;
  /** Whether there is a file or a folder. */
  exists(path: string): boolean;
}

function findWrongFences(markdown: string, project: Project): string[] {
  return fencesOf(markdown).flatMap(({ language, text, source, line }) => {
    if (!["ts", "typescript", "js", "javascript"].includes(language)) return [];
    const [, path, name] = /^(examples\/[\w-]+\.ts)#([\w-]+)$/.exec(source ?? "") ?? [];
    if (path === undefined || name === undefined)
      return [`${line}: code without <!-- examples/file.ts#region -->`];
    const region = regionOf(project.read(path) ?? "", name);
    if (region === undefined) return [`${line}: ${source} does not exist`];
    if (region !== text) return [`${line}: differs from ${source}`];
    // A reader has the package, and nothing of the folder that the example lives in.
    return /\bfrom "\./.test(text) ? [`${line}: imports a file that a reader does not have`] : [];
  });
}

function findWrongCommands(markdown: string, project: Project): string[] {
  const manifest = JSON.parse(project.read("package.json") ?? "{}");
  const packages = [manifest.name, ...Object.keys(manifest.peerDependencies ?? {})];
  const isRunnable = (command: string): boolean => {
    const [tool, verb, ...names] = command.split(/\s+/);
    if (tool === "npx" && verb === "tsx") return names.length === 1 && project.exists(names[0] ?? "");
    if (tool !== "npm") return false;
    if (verb === "install") return names.length > 0 && names.every((name) => packages.includes(name));
    if (verb === "ci") return names.length === 0;
    const script = verb === "run" ? names[0] : verb === "test" ? "test" : undefined;
    return script !== undefined && script in (manifest.scripts ?? {});
  };
  return fencesOf(markdown)
    .filter(({ language }) => ["sh", "bash", "shell", "console"].includes(language))
    .flatMap(({ text, line }) =>
      text
        .split("\n")
        .map((command) => command.replace(/(?:^|\s)#.*$/, "").trim())
        .flatMap((command) => (command ? command.split("&&").map((part) => part.trim()) : []))
        .filter((command) => !isRunnable(command))
        .map((command) => `${line}: ${command} is no script of package.json`),
    );
}

/** The anchors that GitHub gives to the headings of a text. */
function anchorsOf(markdown: string): readonly string[] {
  return [...withoutFences(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-"),
  );
}

const withoutFences = (markdown: string) => markdown.replace(/^```.*?^```$/gms, "");

function findDeadLinks(path: string, markdown: string, project: Project): string[] {
  const prose = withoutFences(markdown).replace(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm)];
  return targets
    .map((match) => match[1] ?? match[2] ?? "")
    .filter((target) => !/^[a-z]+:/i.test(target))
    .filter((target) => {
      const [file = "", anchor] = target.split("#");
      const found = file === "" ? path : posix.join(posix.dirname(path), file);
      if (!project.exists(found)) return true;
      return (
        anchor !== undefined &&
        found.endsWith(".md") &&
        !anchorsOf(project.read(found) ?? "").includes(anchor)
      );
    })
    .map((target) => `${path} links to ${target}, which does not exist`);
}

const here: Project = {
  read: (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined),
  exists: (path) => existsSync(path),
};

const pages = ["README.md", "src/README.md", "examples/README.md"].filter(
  (path) => path === "README.md" || here.exists(path),
);

describe.each(pages)("%s", (path) => {
  const markdown = () => here.read(path) ?? "";

  test("is there", () => {
    expect(markdown()).not.toBe("");
  });
  test("shows code that an example runs", () => {
    expect(findWrongFences(markdown(), here)).toEqual([]);
  });
  test("gives commands that exist", () => {
    expect(findWrongCommands(markdown(), here)).toEqual([]);
  });
  test("has no dead links", () => {
    expect(findDeadLinks(path, markdown(), here)).toEqual([]);
  });
});

describe("README.md", () => {
  test.each(["npm ci && npm run quickstart", "npm ci && npm test"])("gives the command %s", (command) => {
    const lines = (here.read("README.md") ?? "").split("\n");
    expect(lines.map((line) => line.replace(/\s#.*$/, "").trim())).toContain(command);
  });
});

describe("the checks see", () => {
  const files: Record<string, string> = {
    "package.json": JSON.stringify({ name: "a2a-lease", scripts: { test: "vitest run", quickstart: "tsx" } }),
    "examples/quickstart.ts":
      "try {\n  // #region drift\n  if (a) {\n    b();\n  }\n  // #endregion drift\n}\n" +
      '// #region local\nimport a from "./a.ts";\n// #endregion local\n',
    "src/README.md": "# Map\n\n## House style\n",
  };
  const project: Project = {
    read: (path) => files[path],
    exists: (path) => path in files || Object.keys(files).some((file) => file.startsWith(`${path}/`)),
  };
  const region = "```ts\nif (a) {\n  b();\n}\n```\n";
  const local = '```ts\nimport a from "./a.ts";\n```\n';

  test("a fence that is a region, and one that is not", () => {
    const find = (markdown: string) => findWrongFences(markdown, project).length;
    expect(find(`<!-- examples/quickstart.ts#drift -->\n${region}`)).toBe(0);
    expect(find(`<!-- examples/quickstart.ts#drift -->\n\n${region}`)).toBe(0);
    expect(find("```text\nanything\n```\n")).toBe(0);
    expect(find(region)).toBe(1);
    expect(find(`<!-- examples/quickstart.ts#other -->\n${region}`)).toBe(1);
    expect(find(`<!-- examples/quickstart.ts#local -->\n${local}`)).toBe(1);
    expect(find(`<!-- examples/missing.ts#drift -->\n${region}`)).toBe(1);
    expect(find(`<!-- examples/quickstart.ts#drift -->\n${region.replace("b()", "c()")}`)).toBe(1);
    expect(find(`<!-- examples/quickstart.ts#drift -->\nprose\n${region}`)).toBe(1);
  });

  test("a command that exists, and one that does not", () => {
    const find = (command: string) => findWrongCommands(`\`\`\`sh\n${command}\n\`\`\`\n`, project).length;
    const sound = [
      "npm ci && npm test",
      "npm install a2a-lease",
      "npm run quickstart # ten seconds",
      "# first",
    ];
    expect(sound.map(find)).toEqual([0, 0, 0, 0]);
    const wrong = [
      "npm run quickstrat",
      "npm install a2a-laese",
      "npm ci && make",
      "npx tsx examples/missing.ts",
      "npm start",
    ];
    expect(wrong.map(find)).toEqual([1, 1, 1, 1, 1]);
  });

  test("a link that leads somewhere, and one that does not", () => {
    const find = (link: string) => findDeadLinks("src/README.md", link, project).length;
    const sound = [
      "[a](../examples/quickstart.ts)",
      "[a](../examples)",
      "[a](#house-style)",
      "[a](https://example.com/x)",
    ];
    expect(sound.map(find)).toEqual([0, 0, 0, 0]);
    const wrong = [
      "[a](missing.md)",
      "[a](../missing/)",
      "[a](#no-style)",
      "[a]: ./missing.ts",
      "![a](a.png)",
    ];
    expect(wrong.map(find)).toEqual([1, 1, 1, 1, 1]);
  });
});
