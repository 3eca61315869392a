import { generateKeyPairSync } from "node:crypto";
import { createServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { createClient } from "a2a-lease";
import { createNodeFetch, type NodeFetchOptions } from "a2a-lease/node";
import { createScriptedAgent, createTestCard } from "a2a-lease/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { caught } from "../flow/caught.ts";
import certificate from "./certificate.json" with { type: "json" };

const { cert, key } = certificate;
const foreign = (cipher?: string) =>
  generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: {
      ...({ type: "pkcs8", format: "pem" } as const),
      ...(cipher === undefined ? {} : { cipher, passphrase: "secret" }),
    },
  }).privateKey;
const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

describe("certificates that can't be are told when the fetch is made", () => {
  test.each<[string, string, NodeFetchOptions["tls"]]>([
    ["a certificate without its key", "tls.key: found none", { cert }],
    ["a key without its certificate", "tls.cert: found none", { key }],
    ["a key of another certificate", "tls.key: found the key of another", { cert, key: foreign() }],
    ["an encrypted key", "tls.key: found an encrypted key", { cert, key: foreign("aes-256-cbc") }],
    ["a key that is none", "tls.key: found no private key", { cert, key: "hunter2hunter2" }],
    ["an empty key", "tls.key: found no private key", { cert, key: "" }],
    ["a certificate in place of the key", "tls.key: found no private key", { cert, key: cert }],
    ["a certificate that is none", "tls.cert: found no certificate", { cert: "hunter2hunter2", key }],
    ["a key in place of the certificate", "tls.cert: found no certificate", { cert: key, key }],
    ["a certificate that can't be read", "tls.cert: found a certificate that can't", { cert: broken, key }],
    ["an authority that is none", "tls.ca: found no certificate", { ca: "hunter2hunter2" }],
    ["no authority at all", "tls.ca: found no certificate", { ca: "" }],
    ["an authority after a good one", "tls.ca: found a certificate that can't", { ca: `${cert}\n${broken}` }],
    ["bytes that are none", "tls.ca: found no certificate", { ca: new Uint8Array(9) }],
    ["a list", "tls.ca: found object, wanted PEM as a text or as bytes", { ca: [cert] as never }],
  ])("%s", (_what, message, tls) => {
    const make = () => createNodeFetch({ tls: tls ?? {} });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).toThrow(/^(?!.*hunter2)(?!.*BEGIN)(?!.*MII)/s);
  });

  test("and good ones are taken, with what was not given as undefined", async () => {
    for (const tls of [{ ca: cert }, { cert, key }, { ca: cert, cert: undefined, key: undefined }, {}]) {
      await createNodeFetch({ tls: tls as { ca?: string } }).close();
    }
  });
});

/** An agent behind TLS; counts the requests that came through. */
async function startAgent(options: ServerOptions = {}) {
  const state = { port: 0, requests: 0, connections: 0 };
  const agent = createScriptedAgent();
  const server = createServer({ key, cert, ...options }, async (request, response) => {
    state.requests += 1;
    let body = "";
    for await (const chunk of request) body += chunk;
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    const answer = await agent.fetch(`${agent.url}${request.url}`, {
      method: request.method ?? "GET",
      headers: Object.fromEntries(headers),
      ...(body === "" ? {} : { body }),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  });
  server.on("connection", () => {
    state.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  state.port = (server.address() as AddressInfo).port;
  const url = `https://agent.example:${state.port}`;
  agent.rotateCard(
    createTestCard({
      supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    }),
  );
  return Object.assign(state, { url });
}

function fetchWith(tls: NonNullable<NodeFetchOptions["tls"]>, host = "agent.example") {
  const fetch = createNodeFetch({
    lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    allowHosts: [host],
    tls,
  });
  onTestFinished(() => fetch.close());
  return fetch;
}

const definite = { retry: "never", nextStep: "ask-user" };

describe("a certificate that is not trusted is no failure that passes", () => {
  test.each<[string, ServerOptions, NonNullable<NodeFetchOptions["tls"]>, string]>([
    ["an authority that nobody trusts", {}, {}, "agent.example"],
    ["another name", {}, { ca: cert }, "other.example"],
    ["a client certificate is wanted", { requestCert: true, ca: [cert] }, { ca: cert }, "agent.example"],
    [
      "a client certificate is wanted, in TLS 1.2",
      { requestCert: true, ca: [cert], maxVersion: "TLSv1.2" },
      { ca: cert },
      "agent.example",
    ],
  ])("of a card: %s", async (_what, options, tls, host) => {
    const agent = await startAgent(options);
    const fetch = fetchWith(tls, host);

    const error = await caught(createClient(agent.url.replace("agent.example", host), { fetch }));

    expect(error).toMatchObject({ name: "CardUnreachableError", ...definite });
    expect(error).toMatchObject({ cause: { name: "ConnectionError", reason: "certificate", ...definite } });
    expect([agent.requests, agent.connections]).toEqual([0, 1]);
  });

  test.each([undefined, "TLSv1.2"] as const)("of a call, under %s", async (maxVersion) => {
    const agent = await startAgent({
      requestCert: true,
      ca: [cert],
      ...(maxVersion === undefined ? {} : { maxVersion }),
    });
    const known = fetchWith({ ca: cert, cert, key });
    const stranger = fetchWith({ ca: cert });
    // The card may be read with the certificate; calls go without it.
    let attempts = 0;
    const fetch = (url: string, init: RequestInit) => {
      if (init.method === "GET") return known(url, init);
      attempts += 1;
      return stranger(url, init);
    };
    const client = await createClient(agent.url, { fetch });

    const read = await caught(client.getTask({ id: "t" }));
    const sent = await caught(client.sendMessage("hello"));

    expect(read).toMatchObject({ name: "ConnectionError", reason: "certificate", ...definite });
    expect(sent).toMatchObject({ name: "ConnectionError", reason: "certificate", ...definite });
    expect(attempts).toBe(2);
  });

  test("of the check of a card that was read before", async () => {
    const agent = await startAgent();
    let fetch = fetchWith({ ca: cert });
    const client = await createClient(agent.url, { fetch: (url, init) => fetch(url, init) });
    fetch = fetchWith({});
    const error = await caught(client.sendMessage("hello"));
    expect(error).toMatchObject({ name: "LeaseUnverifiableError", ...definite });
    const task = await caught(client.revalidate());
    expect(task).toMatchObject({ name: "LeaseUnverifiableError", ...definite });
  });
});

test("a client certificate that the server knows is taken", async () => {
  const agent = await startAgent({ requestCert: true, ca: [cert] });
  const client = await createClient(agent.url, { fetch: fetchWith({ ca: cert, cert, key }) });
  expect(await client.sendMessage("hello")).toHaveProperty("task");
});

test("a fetch that was closed says so, and no attempt is made", async () => {
  const agent = await startAgent();
  const fetch = fetchWith({ ca: cert });
  const client = await createClient(agent.url, { fetch });
  await fetch.close();
  await fetch.close();
  const before = agent.connections;

  const errors = [
    await caught(client.getTask({ id: "t" })),
    await caught(createClient(agent.url, { fetch })),
  ];

  for (const error of errors) {
    expect(error).toMatchObject({
      ...{ retry: "never", nextStep: "give-up" },
      message: expect.stringContaining("createNodeFetch was closed"),
    });
  }
  expect(agent.connections).toBe(before);
});
