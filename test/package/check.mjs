// The package as a stranger gets it: packed, installed into an empty folder, compiled against, run and bundled.
// Run it after `npm run build`: node test/package/check.mjs

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const root = fileURLToPath(new URL("../..", import.meta.url));
const consumers = join(root, "test/package/consumers");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// The bundler that the build uses anyway.
const esbuild = createRequire(createRequire(import.meta.url).resolve("tsup"))("esbuild");

const work = mkdtempSync(join(tmpdir(), "a2a-lease-"));
const app = join(work, "app");
const installed = join(app, "node_modules", manifest.name);
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

let passed = 0;
let failed = 0;

async function check(title, run) {
  try {
    const note = await run();
    passed += 1;
    console.log(`ok    ${title}${note ? `: ${note}` : ""}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${title}\n${String(error.message ?? error).replace(/^/gm, "      ")}`);
  }
}

function run(command, args, cwd) {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw new Error(`${command} ${args.join(" ")}\n${error.stdout ?? ""}${error.stderr ?? error.message}`);
  }
}

const node = (...args) => run(process.execPath, args, app);
const tool = (path, ...args) => node(join(root, "node_modules", path), ...args);

/** Where the links of a page lead within the package. */
function linksOf(page) {
  const links = readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)#\s]+)/g);
  const inside = [...links].map(([, target]) => target).filter((target) => !/^[a-z]+:/.test(target));
  return inside.map((target) => posix.normalize(posix.join(posix.dirname(page), target)));
}

let tarball;

await check(
  "npm pack takes the build, the examples, the licence and the texts that lead nowhere else, and nothing more",
  () => {
    const [packed] = JSON.parse(
      run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", work], root),
    );
    tarball = join(work, packed.filename);
    const files = packed.files.map(({ path }) => path);
    const texts = files.filter((path) => !/^(?:dist|examples)\//.test(path)).sort();
    assert.deepEqual(texts, ["CHANGELOG.md", "LICENSE", "README.md", "package.json"]);
    for (const page of ["README.md", "CHANGELOG.md", "examples/README.md"]) {
      for (const target of linksOf(page)) {
        const isThere = files.some((path) => path === target || path.startsWith(`${target}/`));
        assert.ok(isThere, `${page} leads to ${target}, which the package does not have`);
      }
    }
    for (const name of ["index", "node", "oauth", "redis", "sql", "testing", "webhook"]) {
      for (const ending of ["js", "cjs", "d.ts", "d.cts"])
        assert.ok(files.includes(`dist/${name}.${ending}`));
    }
    return `${files.length} files, ${Math.round(packed.size / 1024)} kB`;
  },
);

await check("publint has nothing to say", async () => {
  const { messages } = await publint({ pkgDir: root, strict: true, pack: "npm" });
  assert.equal(messages.map((message) => formatMessage(message, manifest, { color: false })).join("\n"), "");
});

await check("the tarball installs into an empty folder", () => {
  assert.ok(tarball, "there is no tarball");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }));
  const types = `@types/node@${manifest.devDependencies["@types/node"]}`;
  run(
    "npm",
    ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", tarball, types],
    app,
  );
});

await check("the types are right under node16 and bundler resolution (arethetypeswrong)", () => {
  tool(
    "@arethetypeswrong/cli/dist/index.js",
    tarball,
    "--profile",
    "node16",
    "--no-definitely-typed",
    "--no-color",
  );
});

await check("the declarations need no other package", () => {
  const needs = readdirSync(join(installed, "dist"), { recursive: true })
    .filter((path) => /\.d\.c?ts$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(installed, "dist", path), "utf8");
      const specifiers = text.matchAll(
        /(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'.][^"']*)["']|<reference types="([^"]+)"/g,
      );
      return [...specifiers].map((match) => `${path} needs ${match[1] ?? match[2]}`);
    });
  assert.deepEqual(needs, []);
});

/** Puts `planner.ts` and a configuration into a folder of the app; the endings say which module system it is. */
function consumer(kind, ...endings) {
  mkdirSync(join(app, kind), { recursive: true });
  copyFileSync(join(consumers, `tsconfig.${kind}.json`), join(app, kind, "tsconfig.json"));
  for (const ending of endings)
    copyFileSync(join(consumers, "planner.ts"), join(app, kind, `planner.${ending}`));
}

await check("a planner compiles with node16 resolution, as ESM and as CJS, on Node's types alone", () => {
  consumer("node16", "mts", "cts");
  tool("typescript/bin/tsc", "-p", "node16");
});

await check("a planner compiles with bundler resolution, on the DOM's types alone", () => {
  consumer("bundler", "ts");
  tool("typescript/bin/tsc", "-p", "bundler");
});

for (const [system, file] of [
  ["ESM", "planner.mjs"],
  ["CJS", "planner.cjs"],
]) {
  await check(`the planner runs as ${system}`, () => node(join("node16/out", file)).trim());
}

await check("errors of the ESM build are instances of the CJS classes, and the other way round", () => {
  copyFileSync(join(consumers, "conformance.mjs"), join(app, "conformance.mjs"));
  return node("conformance.mjs").trim();
});

await check("a shared ledger whose optional package is missing says so in a ledger error", () => {
  const lines = [
    'const { LedgerUnavailableError } = await load("a2a-lease");',
    'const { createSqliteLedger, createPostgresLedger } = await load("a2a-lease/sql");',
    'const { createRedisLedger } = await load("a2a-lease/redis");',
    "const at = (scheme) => ({ url: scheme + '://127.0.0.1:1' });",
    "const makers = [() => createSqliteLedger({ path: 'x.db' }), () => createPostgresLedger(at('postgres')), () => createRedisLedger(at('redis'))];",
    "const found = [];",
    "for (const make of makers) await make().then(() => found.push('made'), (error) => found.push(",
    "  error instanceof LedgerUnavailableError && error.reason === 'peer-missing' && /npm install \\S+/.exec(error.message)[0]));",
    "console.log(found.join(', '));",
  ];
  const wanted = "npm install kysely@~0.28, npm install kysely@~0.28, npm install redis@^5";
  const body = `(async () => {\n${lines.join("\n")}\n})();\n`;
  writeFileSync(join(app, "peers.mjs"), `const load = (name) => import(name);\n${body}`);
  writeFileSync(join(app, "peers.cjs"), `const load = require;\n${body}`);
  for (const file of ["peers.mjs", "peers.cjs"]) assert.equal(node(file).trim(), wanted, file);
  return wanted;
});

/** Bundles a program that uses the installed package. */
async function bundle(program, options) {
  const result = await esbuild.build({
    stdin: { contents: program, resolveDir: app, loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    logLevel: "silent",
    ...options,
  });
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
  return { text: result.outputFiles[0].text, outside: imports.map(({ path }) => path) };
}

const platforms = {
  browser: { platform: "browser", conditions: ["browser"] },
  workerd: { platform: "neutral", mainFields: ["module", "main"], conditions: ["workerd", "worker"] },
};

for (const [name, options] of Object.entries(platforms)) {
  await check(`the root door bundles for ${name} without a node: import`, async () => {
    const { text, outside } = await bundle(`export * from "${manifest.name}";`, options);
    assert.deepEqual(outside, []);
    return `${(text.length / 1000).toFixed(1)} kB, ${(gzipSync(text).length / 1000).toFixed(1)} kB gzip`;
  });
}

await check("what only imports types bundles to nothing", async () => {
  const program = `import type { Task } from "${manifest.name}"; import { type TaskHandle } from "${manifest.name}"; export type A = Task | TaskHandle;`;
  assert.equal((await bundle(program, platforms.browser)).text.trim().replace("export{};", ""), "");
});

await check("what is imported and not used bundles to nothing", async () => {
  const program = `import { createClient } from "${manifest.name}"; import { createScriptedAgent } from "${manifest.name}/testing";`;
  const { text } = await bundle(program, {
    ...platforms.browser,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  assert.equal(text.trim(), "");
});

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
