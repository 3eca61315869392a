import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { floods, startHostileServer } from "./hostile-server.ts";

const MiB = 1024 * 1024;
/** The limit of the client's events and answers; see hostile-client.ts. */
const cap = 4 * MiB;

interface Measured {
  readonly id: string;
  readonly code: string;
  readonly bytes: number;
  /** Live memory beyond the baseline: at its highest, and when all is over. */
  readonly peak: number;
  readonly after: number;
}

let measured: readonly Measured[];
let server: Awaited<ReturnType<typeof startHostileServer>>;

beforeAll(async () => {
  server = await startHostileServer();
  const client = new URL("hostile-client.ts", import.meta.url).pathname;
  const args = ["--expose-gc", "--import", "tsx", client, server.url, ...Object.keys(floods)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = (await text(child.stdout)).trim().split("\n");
  measured = lines.map((line) => JSON.parse(line));
}, 300_000);

afterAll(() => server.close());

const malformed = ["endless lines of no field", "endless events of no use", "endless pings"];

test.each(Object.keys(floods))("%s ends in a typed error, in bounded memory", (flood) => {
  const found = measured.find(({ id }) => id === flood);
  const isMalformed = malformed.includes(flood);
  const code = flood === "events of another task" ? "LIFECYCLE_MISMATCH" : "LIMIT_EXCEEDED";

  expect(found?.code).toBe(isMalformed ? "MALFORMED_RESPONSE" : code);
  expect(found?.peak).toBeLessThan(4 * cap);
  expect(found?.after).toBeLessThan(5 * MiB);
  // What was read of it is bounded too.
  expect(found?.bytes).toBeLessThan(40 * MiB);
});
