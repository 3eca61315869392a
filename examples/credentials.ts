/** An agent that takes a key, or a password together with a certificate: what the caller has decides. */
import assert from "node:assert/strict";
import { createScriptedAgent, createTestCard, type ScriptedAgent } from "a2a-lease/testing";
import { cert as ca, cert, key as certificateKey, startBehindTls } from "./support/behind-tls.ts";

const key = "k3y-of-the-reading-room";
const agents: ScriptedAgent[] = [];
await using front = await startBehindTls((origin) => {
  const card = createTestCard({
    supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    securitySchemes: {
      login: { httpAuthSecurityScheme: { scheme: "basic" } },
      certificate: { mtlsSecurityScheme: {} },
      readerKey: { apiKeySecurityScheme: { location: "header", name: "X-Reader-Key" } },
    },
    securityRequirements: [
      { schemes: { login: { list: [] }, certificate: { list: [] } } },
      { schemes: { readerKey: { list: [] } } },
    ],
  });
  const made = createScriptedAgent({ url: origin, card });
  agents.push(made);
  return made;
});
const { url } = front;

// #region credentials
import { apiKey, basic, createClient, createCredentials, mutualTls } from "a2a-lease";
import { createNodeFetch } from "a2a-lease/node";

// Certificates are PEM. This agent is on the same machine, which allowHosts lets through.
const fetch = createNodeFetch({ tls: { ca, cert, key: certificateKey }, allowHosts: ["127.0.0.1"] });

const reader = await createClient(url, {
  fetch,
  credentials: createCredentials({
    // By the name that the card gives the scheme; where the card says it goes, there it goes.
    readerKey: apiKey(key),
  }),
});
const editor = await createClient(url, {
  fetch,
  credentials: createCredentials({
    // By the kind of the scheme, whatever the card calls it. A function is asked before each request.
    http: basic({ username: "editor", password: async () => "of the editor" }),
    // The certificate is on the connection, which the fetch makes; this says that there is one.
    mutualTLS: mutualTls(),
  }),
});
for (const client of [reader, editor]) {
  client.on("credentials-chosen", ({ requirement }) =>
    console.log(requirement.schemes.map(({ name }) => name)),
  );
  await client.sendMessage("The river rose two metres.");
}
// #endregion credentials

const [first, second] = agents.flatMap((agent) => agent.calls("SendMessage"));
assert.equal(first?.headers["x-reader-key"], key);
assert.equal(second?.headers["x-reader-key"], undefined);
assert.match(second?.headers.authorization ?? "", /^Basic /);
assert(front.requestCount >= 4);
await Promise.all([reader.close(), editor.close()]);
await fetch.close();
