import { type CredentialsChosenEvent, createClient, createCredentials } from "a2a-lease";
import { oauthClientCredentials } from "a2a-lease/oauth";
import { createScriptedAgent, createTestCard, createTestClock } from "a2a-lease/testing";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { OAuth2Server } from "oauth2-mock-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { caught } from "../flow/caught.ts";

const login = new OAuth2Server();
const asked: string[] = [];
let issuer = "";

beforeAll(async () => {
  await login.issuer.keys.generate("RS256");
  await login.start(0, "localhost");
  issuer = login.issuer.url ?? "";
  login.service.on("beforeResponse", (_answer, request) => void asked.push(String(request.body.scope)));
});
afterAll(() => login.stop());

/** An agent whose card asks for a token of an OpenID provider. */
function setUp(openIdConnectUrl = `${issuer}/.well-known/openid-configuration`) {
  asked.length = 0;
  const card = createTestCard({
    securitySchemes: { staff: { openIdConnectSecurityScheme: { openIdConnectUrl } } },
    securityRequirements: [{ schemes: { staff: { list: ["openid", "profile"] } } }],
  });
  const clock = createTestClock();
  const agent = createScriptedAgent({ card, clock });
  const connect = (options: Partial<Parameters<typeof oauthClientCredentials>[0]>) => {
    const provider = oauthClientCredentials({
      clientId: "me",
      clientSecret: "s3cret-of-me",
      scopes: (wanted) => wanted,
      ...options,
    });
    return createClient(agent.url, {
      fetch: agent.fetch,
      clock,
      credentials: createCredentials({ openIdConnect: provider }),
    });
  };
  return { agent, connect };
}

describe("a card that asks for OpenID Connect", () => {
  test.each<[string, () => object]>([
    ["an issuer that the caller names", () => ({ issuer })],
    ["an issuer whose OpenID metadata the caller names", () => ({ issuer, discovery: "oidc" })],
    ["the URL on the card, at an origin that the caller trusts", () => ({ trustCardUrlsAt: [issuer] })],
  ])("gets a token of %s, and says which scheme was served", async (_whose, optionsOf) => {
    const { agent, connect } = setUp();
    const client = await connect(optionsOf());
    const told: CredentialsChosenEvent[] = [];
    client.on("credentials-chosen", (event) => told.push(event));

    await client.sendMessage("x");

    const { authorization } = agent.calls()[0]?.headers ?? {};
    const token = String(authorization).replace(/^Bearer /, "");
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    expect((await jwtVerify(token, keys, { issuer })).payload.iss).toBe(issuer);
    expect(asked).toEqual(["openid profile"]);
    const schemes = [{ name: "staff", kind: "openIdConnect", scopes: ["openid", "profile"] }];
    expect(told.map(({ requirement }) => requirement)).toEqual([{ schemes }]);
  });

  test("at an origin that the caller does not trust gets none, and nobody there is asked", async () => {
    const { agent, connect } = setUp();
    const client = await connect({ trustCardUrlsAt: ["https://login.example"] });

    expect(await caught(client.sendMessage("x"))).toMatchObject({ code: "TOKEN_REQUEST", reason: "origin" });
    expect([asked, agent.calls()]).toEqual([[], []]);
  });

  test("by a URL that is no OpenID metadata gets none", async () => {
    const { agent, connect } = setUp(`${issuer}/somewhere`);
    const client = await connect({ trustCardUrlsAt: [issuer] });

    expect(await caught(client.sendMessage("x"))).toMatchObject({
      code: "TOKEN_REQUEST",
      reason: "discovery",
    });
    expect([asked, agent.calls()]).toEqual([[], []]);
  });
});
