import { type AgentCard, chooseRequirement } from "a2a-lease";
import { expect, test } from "vitest";

const schemes = {
  oauth: {
    oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "https://login.example/token" } } },
  },
  key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
  tls: { mtlsSecurityScheme: {} },
};
const card = (...alternatives: Record<string, readonly string[]>[]): Partial<AgentCard> => ({
  securitySchemes: schemes,
  securityRequirements: alternatives.map((item) => ({
    schemes: Object.fromEntries(Object.entries(item).map(([name, list]) => [name, { list }])),
  })),
});
const have =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name);

test("the first alternative is chosen of which every scheme can be served", () => {
  const asks = card({ oauth: ["read"], tls: [] }, { key: [] }, { oauth: ["read"] });

  expect(chooseRequirement(asks, have("oauth", "key"))).toEqual({
    schemes: [{ name: "key", kind: "apiKey", scopes: [] }],
  });
  expect(chooseRequirement(asks, have("oauth"))).toEqual({
    schemes: [{ name: "oauth", kind: "oauth2", scopes: ["read"] }],
  });
  expect(chooseRequirement(asks, have("oauth", "key", "tls"))?.schemes.map(({ name }) => name)).toEqual([
    "oauth",
    "tls",
  ]);
});

test("nothing is chosen where no alternative can be met, nor where the card asks for nothing", () => {
  expect(chooseRequirement(card({ key: [] }), have("oauth"))).toBeUndefined();
  expect(chooseRequirement({}, have("oauth"))).toBeUndefined();
});

test("an alternative without schemes is always met", () => {
  expect(chooseRequirement(card({ key: [] }, {}), have())).toEqual({ schemes: [] });
});

test("a scheme that the card names and does not define, or that only prototypes have, has no kind", () => {
  const asked: unknown[] = [];
  const found = chooseRequirement(card({ toString: [] }), (name, scheme) => asked.push([name, scheme]) > 0);

  expect(asked).toEqual([["toString", undefined]]);
  expect(found).toEqual({ schemes: [{ name: "toString", kind: "unknown", scopes: [] }] });
});
