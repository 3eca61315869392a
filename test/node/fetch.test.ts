import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { AddressRefusedError, ConnectionError, RedirectRefusedError } from "a2a-lease";
import { type AddressLookup, createNodeFetch, type NodeFetchOptions } from "a2a-lease/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHttp } from "../../src/wire/http.ts";
import { createFakeClock } from "../wire/fake-clock.ts";
import certificate from "./certificate.json" with { type: "json" };
import { startServer } from "./servers.ts";

const v4 = (...addresses: readonly string[]) =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }) as const);

/** The fetch, and an exchange over it, as the client has one. */
function setUp(options: NodeFetchOptions) {
  const fetch = createNodeFetch(options);
  onTestFinished(() => fetch.close());
  const http = createHttp({ fetch, clock: createFakeClock() });
  const get = (url: string) =>
    http({ url, method: "GET", headers: {}, signal: new AbortController().signal, firstByteMs: 30_000 });
  return { fetch, get };
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a name", () => {
  test.each([
    ["loopback", ["127.0.0.1"]],
    ["loopback, in IPv6", ["::1"]],
    ["loopback, mapped into IPv6", ["::ffff:127.0.0.1"]],
    ["a private address", ["10.0.0.5"]],
    ["a unique local address", ["fd12:3456::1"]],
    ["where clouds tell their secrets", ["169.254.169.254"]],
    ["a link-local address with a zone", ["fe80::1%lo"]],
    ["an address for documentation", ["203.0.113.5"]],
    ["this network", ["0.0.0.0"]],
    ["a public address and a private one", ["93.184.215.14", "127.0.0.1"]],
    ["no address at all", ["evil"]],
  ])("that resolves to %s is refused, and nobody is connected to", async (_what, addresses) => {
    const server = await startServer();
    const { get } = setUp({ lookup: async () => v4(...addresses) });

    const error = await failureOf(get(`http://rebind.example:${server.port}/rpc?token=s3cret`));

    expect(error).toBeInstanceOf(AddressRefusedError);
    expect(error).toMatchObject({
      url: `http://rebind.example:${server.port}/rpc?token=***`,
      retry: "never",
    });
    expect(server.connections).toBe(0);
  });

  test.each([
    ["nothing", undefined, "found undefined, "],
    ["null", null, "found null, "],
    ["a text", "203.0.113.5", "found string, "],
    ["one address", { address: "203.0.113.5", family: 4 }, "found object, "],
    ["texts", ["203.0.113.5"], "found [0] without an address"],
    [
      "no family",
      [{ address: "93.184.215.14", family: 4 }, { address: "93.184.215.14" }],
      "found [1] without",
    ],
    ["a family as a text", [{ address: "93.184.215.14", family: "IPv4" }], "found [0] without"],
    ["the wrong family", [{ address: "93.184.215.14", family: 6 }], "found [0] without"],
    ["no address", [{ address: "evil", family: 0 }], "found [0] without"],
  ])("for which a lookup gives %s is refused, and the error says so", async (_what, answer, found) => {
    for (const allowHosts of [[], ["agent.example"]]) {
      const { get } = setUp({ lookup: async () => answer as never, allowHosts });
      const error = await failureOf(get("http://agent.example:8081/a"));
      expect(error).toBeInstanceOf(AddressRefusedError);
      expect(error).toMatchObject({
        retry: "never",
        message: expect.stringContaining(found),
      });
      expect((error as Error).message).toMatch(/wanted a list of \{ address, family \} from the lookup/);
    }
  });

  test("is looked up once for a connection, which goes to what was judged", async () => {
    const server = await startServer();
    const answers = [v4("127.0.0.1"), v4("10.0.0.5")];
    const asked: string[] = [];
    const lookup: AddressLookup = async (hostname) => {
      asked.push(hostname);
      return answers.shift() ?? [];
    };
    const { get } = setUp({ lookup, allowHosts: ["agent.example"] });

    const status = await read(get(`http://agent.example:${server.port}/a`));

    expect([status, asked]).toEqual([200, ["agent.example"]]);
    expect(server.log.map(({ host, path }) => [host, path])).toEqual([
      [`agent.example:${server.port}`, "/a"],
    ]);
  });

  test("that resolves to another address the second time is refused then", async () => {
    const evil = await startServer();
    const answers = [v4("203.0.113.5"), v4("127.0.0.1")];
    // The first address can't be reached here; what counts is that the second one never is.
    const { get } = setUp({ lookup: async () => answers.shift() ?? [] });
    const url = `http://rebind.example:${evil.port}/rpc`;

    const errors = [await failureOf(get(url)), await failureOf(get(url))];

    expect(errors.map((error) => (error as Error).name)).toEqual([
      "AddressRefusedError",
      "AddressRefusedError",
    ]);
    expect(evil.connections).toBe(0);
  });

  test("that has no address is a connection that failed before anything was sent", async () => {
    const { get } = setUp({ lookup: async () => [] });
    const error = await failureOf(get("https://nowhere.example/"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ systemCode: "ENOTFOUND", neverSent: true });
  });

  test("is looked up by the system where nobody else does it", async () => {
    const server = await startServer();
    const refused = await failureOf(setUp({}).get(`http://localhost:${server.port}/`));
    const status = await read(setUp({ allowHosts: ["localhost"] }).get(`http://localhost:${server.port}/`));
    expect([(refused as Error).name, status]).toEqual(["AddressRefusedError", 200]);
  });
});

describe("a literal address", () => {
  test.each(["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"])(
    "%s is refused without a lookup",
    async (host) => {
      const server = await startServer();
      const asked: string[] = [];
      const { get } = setUp({
        lookup: async (hostname) => {
          asked.push(hostname);
          return v4("127.0.0.1");
        },
      });
      expect(await failureOf(get(`http://${host}:${server.port}/`))).toBeInstanceOf(AddressRefusedError);
      expect([asked, server.connections]).toEqual([[], 0]);
    },
  );

  test.each<NodeFetchOptions>([{ allowPrivate: true }, { allowHosts: ["127.0.0.1"] }])(
    "is reached where %j says so",
    async (options) => {
      const server = await startServer();
      expect(await read(setUp(options).get(`http://127.0.0.1:${server.port}/`))).toBe(200);
    },
  );

  test("that is link-local is not opened by allowPrivate", async () => {
    const { get } = setUp({ allowPrivate: true });
    expect(await failureOf(get("http://169.254.169.254/latest/meta-data/"))).toBeInstanceOf(
      AddressRefusedError,
    );
  });
});

describe("the way there", () => {
  test("is reached no more once it is closed, which may be said twice", async () => {
    const server = await startServer();
    const { fetch, get } = setUp({ lookup: async () => v4("127.0.0.1"), allowHosts: ["agent.example"] });
    await fetch.close();
    await fetch.close();

    expect(await failureOf(get(`http://agent.example:${server.port}/`))).toBeInstanceOf(ConnectionError);
    expect(server.connections).toBe(0);
  });

  test("follows no redirect, whatever it is asked to do", async () => {
    const evil = await startServer();
    const server = await startServer(() => ({
      status: 302,
      headers: { location: `http://127.0.0.1:${evil.port}/` },
    }));
    const { fetch, get } = setUp({ lookup: async () => v4("127.0.0.1"), allowHosts: ["agent.example"] });
    const url = `http://agent.example:${server.port}/`;

    expect(await failureOf(get(url))).toBeInstanceOf(RedirectRefusedError);
    const response = await fetch(url, { redirect: "follow" });
    await response.body?.cancel();

    expect([response.status, evil.connections]).toEqual([302, 0]);
  });

  test("asks a TLS server for the name, and takes no certificate of another", async () => {
    const names: unknown[] = [];
    const server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
      names.push((request.socket as TLSSocket & { servername?: string }).servername);
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { get } = setUp({
      lookup: async () => v4("127.0.0.1"),
      allowHosts: ["agent.example", "other.example"],
      tls: { ca: new TextEncoder().encode(certificate.cert) },
    });

    const status = await read(get(`https://agent.example:${port}/`));
    const error = await failureOf(get(`https://other.example:${port}/`));

    expect([status, names]).toEqual([200, ["agent.example"]]);
    expect(error).toMatchObject({ name: "ConnectionError", systemCode: "ERR_TLS_CERT_ALTNAME_INVALID" });
  });
});

describe("an option that is wrong", () => {
  test.each([
    ["allowHosts", { allowHosts: ["http://agent.corp"] }],
    ["allowHosts", { allowHosts: ["Agent.corp"] }],
    ["allowHosts", { allowHosts: "agent.corp" }],
    ["allowPrivate", { allowPrivate: 1 }],
    ["lookup", { lookup: "dns" }],
    ["allowPrivat", { allowPrivat: true }],
    ["tls.cart", { tls: { cart: certificate.cert } }],
  ])("is named: %s of %j", (name, options) => {
    expect(() => createNodeFetch(options as never)).toThrow(new RegExp(`^${name}: `));
  });
});

async function read(answer: Promise<{ status: number; body: ReadableStream<Uint8Array> | null }>) {
  const { status, body } = await answer;
  await new Response(body).arrayBuffer();
  return status;
}
