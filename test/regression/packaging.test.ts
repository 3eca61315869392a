import { createRequire } from "node:module";
import { createClient, NoSupportedInterfaceError, ProtocolVersionError } from "a2a-lease";
import { createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";

interface Bundler {
  build(options: object): Promise<{
    readonly outputFiles: readonly { readonly text: string }[];
    readonly metafile: {
      readonly outputs: Record<string, { readonly imports: readonly { path: string }[] }>;
    };
  }>;
}

// The bundler that the build uses anyway.
const esbuild = createRequire(createRequire(import.meta.url).resolve("tsup"))("esbuild") as Bundler;

async function bundle(program: string, options: object) {
  const { outputFiles, metafile } = await esbuild.build({
    stdin: { contents: program, resolveDir: process.cwd(), loader: "ts" },
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
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return { text: outputFiles[0]?.text ?? "", outside: imports.map(({ path }) => path) };
}

const runtimes = [
  ["a browser", { platform: "browser", conditions: ["browser"] }],
  ["a worker", { platform: "neutral", mainFields: ["module", "main"], conditions: ["workerd", "worker"] }],
] as const;

describe.each(runtimes)("a bundle for %s", (_runtime, options) => {
  test("of the whole root door imports nothing, no module of Node among it", async () => {
    const { text, outside } = await bundle('export * from "./src/index.ts";', options);
    expect(outside).toEqual([]);
    expect(text).not.toMatch(/(?:from|import|require\()\s*["']node:/);
  });

  test("of types alone is empty", async () => {
    const { text, outside } = await bundle(
      'import type { Task } from "./src/index.ts"; export type Mine = Task;',
      options,
    );
    expect({ text: text.trim(), outside }).toEqual({ text: "", outside: [] });
  });
});

describe("a card that offers only what is not built in", () => {
  const clock = createTestClock();
  const connect = (supportedInterfaces: object[]) => {
    const agent = createScriptedAgent({ clock, card: createTestCard({ supportedInterfaces } as never) });
    return createClient(agent.url, { fetch: agent.fetch, clock });
  };
  const grpc = { url: "agent.example:443", protocolBinding: "GRPC", protocolVersion: "1.0" };

  test.each([
    ["gRPC", [grpc], "gRPC is not built in"],
    ["gRPC in an address that is a URL", [{ ...grpc, url: "https://agent.example" }], "gRPC is not built in"],
    ["a binding of its own", [{ ...grpc, protocolBinding: "urn:example:pigeons" }], "no such binding here"],
  ])("%s is refused with what there is and how to have the other", async (_what, interfaces, hint) => {
    const error = await caught(connect(interfaces), NoSupportedInterfaceError);
    expect(error.supported).toEqual(["JSONRPC", "HTTP+JSON"]);
    expect(error.message).toContain(hint);
    expect(error.message).toContain("the option bindings");
  });

  test("gRPC, and JSON-RPC of an older version, is of another version", async () => {
    const older = { url: "https://agent.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "0.3" };
    expect(await caught(connect([grpc, older]), ProtocolVersionError)).toMatchObject({ offered: ["0.3"] });
  });
});
