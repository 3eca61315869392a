import { readdirSync } from "node:fs";
import { defineConfig } from "tsup";

// A door is a file directly in src/: each one is an entry, and package.json#exports lists the same doors.
const doors = readdirSync("src").filter((name) => name.endsWith(".ts"));

export default defineConfig({
  entry: doors.map((name) => `src/${name}`),
  format: ["esm", "cjs"],
  target: "es2022",
  platform: "neutral",
  // Consumers whose `lib` has no explicit resource management still read the declarations.
  dts: { banner: '/// <reference lib="esnext.disposable" />' },
  clean: true,
  // Without splitting every door would carry its own copy of every class.
  splitting: true,
  removeNodeProtocol: false,
  external: [/^node:/],
  treeshake: true,
});
