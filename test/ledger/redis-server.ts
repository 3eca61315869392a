import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import type { Ledger } from "a2a-lease";
import { createRedisLedger } from "a2a-lease/redis";
import { createClient } from "redis";
import { freshFolder } from "./stores.ts";

/** A Redis server of one test alone, which may be broken. */
export interface RedisServer {
  readonly url: string;
  open(): Promise<Ledger>;
  tell(...command: string[]): Promise<void>;
  ask(...command: string[]): Promise<string | undefined>;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a server that writes everything down at once. */
export async function startRedis(): Promise<RedisServer> {
  const folder = freshFolder();
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let process: ChildProcess;

  async function connect() {
    const client = createClient({ url, socket: { reconnectStrategy: (tries) => tries < 200 && 25 } });
    client.on("error", () => {});
    return client.connect();
  }

  async function run(...command: string[]) {
    const client = await connect();
    try {
      return await client.sendCommand(command);
    } finally {
      client.destroy();
    }
  }

  async function start() {
    const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    process = spawn(
      "redis-server",
      ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder, ...durable],
      {
        stdio: "ignore",
      },
    );
    await run("PING");
  }

  async function kill() {
    process.kill("SIGKILL");
    await once(process, "exit");
  }

  await start();
  return {
    url,
    open: () => createRedisLedger({ url }),
    async tell(...command) {
      await run(...command);
    },
    async ask(...command) {
      const reply = await run(...command);
      return reply === null ? undefined : String(reply);
    },
    kill,
    restart: start,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
