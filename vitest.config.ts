import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where `.ci/run` wants the results as JSON. */
const report = process.env.VITEST_JSON;

export default defineConfig({
  resolve: {
    alias: [
      { find: /^a2a-lease$/, replacement: source("./src/index.ts") },
      { find: /^a2a-lease\/webhook$/, replacement: source("./src/webhook.ts") },
      { find: /^a2a-lease\/oauth$/, replacement: source("./src/oauth.ts") },
      { find: /^a2a-lease\/node$/, replacement: source("./src/node.ts") },
      { find: /^a2a-lease\/testing$/, replacement: source("./src/testing.ts") },
      { find: /^a2a-lease\/sql$/, replacement: source("./src/sql.ts") },
      { find: /^a2a-lease\/redis$/, replacement: source("./src/redis.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/package/**", "test/bench/**"],
    testTimeout: 20_000,
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
  },
});
