/**
 * An agent that wants tokens of a login server: for the program itself, for a user with a browser, and for one with another
 * device. The client gets them, keeps them, and replaces one that is refused.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OAuthFlows } from "@a2a-js/sdk";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { OAuth2Server } from "oauth2-mock-server";
import { startDeviceLogin } from "./support/device-login.ts";
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
const scopes = { summarize: "Have texts summarized" };
const common = { tokenUrl: `${issuer}/token`, refreshUrl: "", scopes };
const authorizationUrl = `${issuer}/authorize`;
await using deviceLogin = await startDeviceLogin(() => login.issuer.buildToken());
const { tokenUrl, deviceAuthorizationUrl } = deviceLogin;

/** A scheme of the card with one flow. */
const oauth2 = (flow: OAuthFlows["flow"]) => ({
  scheme: {
    $case: "oauth2SecurityScheme" as const,
    value: { description: "", flows: { flow }, oauth2MetadataUrl: "" },
  },
});
await using agent = await startRealAgent({
  card: {
    securitySchemes: {
      login: oauth2({ $case: "clientCredentials", value: common }),
      user: oauth2({
        $case: "authorizationCode",
        value: { ...common, authorizationUrl, pkceRequired: true },
      }),
      device: oauth2({ $case: "deviceCode", value: { ...common, tokenUrl, deviceAuthorizationUrl } }),
    },
    securityRequirements: ["login", "user", "device"].map((name) => ({
      schemes: { [name]: { list: ["summarize"] } },
    })),
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
      // Of what the card asks for, what this program is ready to ask for. Without it: all of that.
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

const folder = await mkdtemp(join(tmpdir(), "oauth-"));
const tokenFile = join(folder, "refresh-token");
const redirectUri = await freeRedirectUri();
/** The user of this example signs in at once. */
const openBrowser = (page: string) => void fetch(page).catch(() => {});

// #region sign-in
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { oauthAuthorizationCode } from "a2a-lease/oauth";

/** Takes the user to the page, and resolves to the whole URL that they come back to. */
async function authorize(page: string, { signal }: { signal: AbortSignal }): Promise<URL> {
  const { port, hostname } = new URL(redirectUri);
  const server = createServer().listen(Number(port), hostname);
  try {
    await once(server, "listening", { signal });
    openBrowser(page);
    const [request, response] = await once(server, "request", { signal });
    response.end("You are signed in, and can close this window.");
    return new URL(request.url, redirectUri);
  } finally {
    server.close();
  }
}

const forUser = await createClient(url, {
  credentials: createCredentials({
    user: oauthAuthorizationCode({
      issuer,
      clientId: "reading-app",
      redirectUri,
      authorize,
      // The one of the last run goes first: the user is asked only where it counts no more.
      refreshToken: await readFile(tokenFile, "utf8").catch(() => undefined),
      onRefreshed: ({ refreshToken }) => writeFile(tokenFile, refreshToken, { mode: 0o600 }),
    }),
  }),
});
// #endregion sign-in
const signedIn = await forUser.delegate("The mayor thanked the helpers.");
assert.equal(signedIn.status, "completed");
assert.notEqual(await readFile(tokenFile, "utf8"), "");
await forUser.close();

// #region refresh
import { oauthRefresh } from "a2a-lease/oauth";

const nextRun = await createClient(url, {
  credentials: createCredentials({
    user: oauthRefresh({
      issuer,
      clientId: "reading-app",
      refreshToken: await readFile(tokenFile, "utf8"),
      onRefreshed: ({ refreshToken }) => writeFile(tokenFile, refreshToken, { mode: 0o600 }),
    }),
  }),
});
// #endregion refresh
const last = await readFile(tokenFile, "utf8");
const refreshed = await nextRun.delegate("The river fell again.");
assert.equal(refreshed.status, "completed");
assert.notEqual(await readFile(tokenFile, "utf8"), last);
await nextRun.close();

// #region device
import { oauthDeviceCode } from "a2a-lease/oauth";

const onDevice = await createClient(url, {
  credentials: createCredentials({
    device: oauthDeviceCode({
      // In place of issuer: both endpoints of the flow.
      tokenUrl,
      deviceAuthorizationUrl,
      clientId: "reading-lamp",
      onUserCode: ({ userCode, verificationUri }) => console.log(`Type ${userCode} at ${verificationUri}`),
    }),
  }),
});
// #endregion device
const typedIn = await onDevice.delegate("The school opens on Monday.");
assert.equal(typedIn.status, "completed");
await onDevice.close();

/** A URL on this machine at whose port nobody listens. */
async function freeRedirectUri(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return `http://127.0.0.1:${port}/back`;
}

await rm(folder, { recursive: true });
await login.stop();
