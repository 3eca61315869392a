import { dirname, relative, resolve } from "node:path";
import { compileFunction } from "node:vm";
import { build, type Plugin } from "esbuild";
import { type Mutant, sources } from "./mutants.ts";
import type { Judgement } from "./row.ts";

const root = resolve(import.meta.dirname, "../../..");
const entry = resolve(root, "src/entry.ts");
const entryText = `
  export { judgeCard } from "./lease/judge.ts";
  export { decideDrift } from "./lease/posture.ts";
`;

/**
 * Compiles the judgement of each mutant, all of them in one build: a mutant is a namespace, with its own copy of the
 * rooms that judge. Everything else is shared with this process.
 */
export async function compileMutants(mutants: readonly Mutant[]): Promise<readonly Judgement[]> {
  const result = await build({
    entryPoints: mutants.map((_, index) => ({ in: String(index), out: String(index) })),
    outdir: root,
    bundle: true,
    write: false,
    format: "cjs",
    target: "es2022",
    logLevel: "error",
    metafile: true,
    plugins: [mutantSources(mutants)],
  });
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
  const outside = new Map<string, unknown>();
  for (const { path } of imports.filter(({ external }) => external)) {
    if (!outside.has(path)) outside.set(path, await import(/* @vite-ignore */ path));
  }
  const texts = new Map(result.outputFiles.map((file) => [relative(root, file.path), file.text]));
  return mutants.map((mutant, index) => load(mutant, texts.get(`${index}.js`) ?? "", outside));
}

function mutantSources(mutants: readonly Mutant[]): Plugin {
  return {
    name: "mutants",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ kind, path, importer, namespace }) => {
        if (kind === "entry-point") return { path: entry, namespace: path };
        const target = path.startsWith(".") ? resolve(dirname(importer), path) : path;
        return relative(root, target) in sources
          ? { path: target, namespace }
          : { path: target, external: true };
      });
      onLoad({ filter: /.*/ }, ({ path, namespace }) => {
        const name = relative(root, path);
        const mutant = mutants[Number(namespace)];
        const text = mutant?.path === name ? mutant.text : sources[name];
        return { contents: path === entry ? entryText : (text ?? ""), loader: "ts" };
      });
    },
  };
}

function load(mutant: Mutant, text: string, outside: ReadonlyMap<string, unknown>): Judgement {
  const module: { exports: unknown } = { exports: undefined };
  compileFunction(text, ["module", "require"])(module, (path: string) => outside.get(path));
  if (!isJudgement(module.exports)) throw new TypeError(`${mutant.says}: no judgement came of it`);
  return module.exports;
}

function isJudgement(value: unknown): value is Judgement {
  if (typeof value !== "object" || value === null) return false;
  return (
    "judgeCard" in value &&
    typeof value.judgeCard === "function" &&
    "decideDrift" in value &&
    typeof value.decideDrift === "function"
  );
}
