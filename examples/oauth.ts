/** An agent that wants tokens of a login server: the client gets them, keeps them, and replaces one that is refused. */
import assert from "node:assert/strict";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { OAuth2Server } from "oauth2-mock-server";
import { startRealAgent } from "./support/real-agent.ts";

const login = new OAuth2Server();
await login.issuer.keys.generate("RS256");
await login.start(0, "localhost");
const issuer = login.issuer.url ?? "";
let tokens = 0;
login.service.on("beforeTokenSigning", (token) => {
  tokens += 1;
  // Tokens of the same second are different ones, too.
  token.payload.jti = String(tokens);
});

const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
const revoked = new Set<string>();
const flow = { tokenUrl: `${issuer}/token`, refreshUrl: "", scopes: { summarize: "Have texts summarized" } };
await using agent = await startRealAgent({
  card: {
    securitySchemes: {
      login: {
        scheme: {
          $case: "oauth2SecurityScheme",
          value: {
            description: "",
            flows: { flow: { $case: "clientCredentials", value: flow } },
            oauth2MetadataUrl: "",
          },
        },
      },
    },
    securityRequirements: [{ schemes: { login: { list: ["summarize"] } } }],
  },
  async admits(authorization) {
    const token = authorization.replace("Bearer ", "");
    return !revoked.has(token) && (await isOfLogin(token));
  },
});
let lastToken = "";
async function isOfLogin(token: string): Promise<boolean> {
  lastToken = token;
  return jwtVerify(token, keys, { issuer }).then(
    () => true,
    () => false,
  );
}
const { url } = agent;
const secret = { id: "reading-client", value: "s3cret-of-the-client" };

// #region oauth
import { createClient, createCredentials } from "a2a-lease";
import { oauthClientCredentials } from "a2a-lease/oauth";

const client = await createClient(url, {
  credentials: createCredentials({
    // Under the name of the card's scheme, or of its kind: "oauth2".
    login: oauthClientCredentials({
      issuer,
      clientId: secret.id,
      clientSecret: () => secret.value,
      // Of what the card asks for, what this program is ready to ask for.
      scopes: (asked) => asked.filter((scope) => scope === "summarize"),
    }),
  }),
});
client.on("credentials-chosen", ({ requirement, origin }) => console.log(requirement.schemes, origin));

const outcome = await client.delegate("The river rose two metres. Nobody was hurt.");
if (outcome.status === "completed") console.log(outcome.text);
// #endregion oauth

assert.equal(outcome.status, "completed");
assert.equal(tokens, 1);

// A token that the agent no longer takes is replaced once, for the same message.
revoked.add(lastToken);
const again = await client.delegate("The bridge was closed. Nobody was hurt.");
assert.equal(again.status, "completed");
assert.equal(tokens, 2);
console.log(`${tokens} tokens for two tasks, the first of them revoked`);

await client.close();
await login.stop();
