/** An agent that takes a key, or a password together with a certificate: what the caller has decides. */
import assert from "node:assert/strict";
import { createScriptedAgent, createTestCard } from "a2a-lease/testing";

const key = "k3y-of-the-reading-room";
const agent = createScriptedAgent({
  card: createTestCard({
    securitySchemes: {
      login: { httpAuthSecurityScheme: { scheme: "basic" } },
      certificate: { mtlsSecurityScheme: {} },
      readerKey: { apiKeySecurityScheme: { location: "header", name: "X-Reader-Key" } },
    },
    securityRequirements: [
      { schemes: { login: { list: [] }, certificate: { list: [] } } },
      { schemes: { readerKey: { list: [] } } },
    ],
  }),
});
const { url, fetch: fetchWithCertificate } = agent;

// #region credentials
import { apiKey, basic, createClient, createCredentials, mutualTls } from "a2a-lease";

const reader = await createClient(url, {
  fetch: fetchWithCertificate,
  credentials: createCredentials({
    // By the name that the card gives the scheme; where the card says it goes, there it goes.
    readerKey: apiKey(key),
  }),
});
const editor = await createClient(url, {
  // A fetch of your own brings the certificate; mutualTls() says that there is one.
  fetch: fetchWithCertificate,
  credentials: createCredentials({
    // By the kind of the scheme, whatever the card calls it. A function is asked before each request.
    http: basic({ username: "editor", password: async () => "of the editor" }),
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

const [first, second] = agent.calls("SendMessage");
assert.equal(first?.headers["x-reader-key"], key);
assert.equal(second?.headers["x-reader-key"], undefined);
assert.match(second?.headers.authorization ?? "", /^Basic /);
await Promise.all([reader.close(), editor.close()]);
