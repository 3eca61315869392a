import { createClient, isA2ALeaseError, pinCard } from "a2a-lease";
import { createTestCard } from "a2a-lease/testing";
import { describe, expect, test } from "vitest";
import { createTestSigner } from "../card/signer.ts";
import { caught } from "../flow/caught.ts";
import { createHostileWorld, type HostileWorld, interfacesAt, replyTo } from "./hostile-world.ts";

const nameOf = (error: unknown) => (error as Error).name;

/** Hosts that lead inside by their text alone. */
const insideHosts = [
  "127.0.0.1",
  "127.1",
  "127.255.255.254",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "0.0.0.0",
  "0",
  "localhost",
  "LocalHost",
  "localhost.",
  "api.localhost",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "\uff11\uff12\uff17.\uff10.\uff10.\uff11",
  "127\u30020\u30020\u30021",
  "%31%32%37.0.0.1",
  "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
  "169.254.169.254",
  "0xa9fea9fe",
  "[::ffff:169.254.169.254]",
  "[fe80::1]",
  "[fd00:ec2::254]",
  "100.100.100.200",
  "168.63.129.16",
  "10.0.0.5",
  "172.16.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "[fc00::1]",
  "[fec0::1]",
  "224.0.0.1",
  "255.255.255.255",
  "[ff02::1]",
  "metadata.google.internal",
  "printer.local",
  "kubernetes",
];

/** Names that look like any other and lead inside once they are looked up. */
const insideNames = [
  "rebind.example",
  "mixed.example",
  "mapped.example",
  "six.example",
  "zone.example",
  "meta.example",
  "private.example",
  "ula.example",
  "nat64.example",
  "zero.example",
  "127.0.0.1.nip.example",
  "localhost.example",
];

/** Names that only look like the agent's, or like anything in ASCII. */
const lookAlikes = [
  "ex\u00e4mple.example",
  "\u0430gent.example",
  "agent\u2024example",
  "xn--gent-43d.example",
];

/** URLs that are something else than they look. */
const trickUrls: readonly ((port: number) => string)[] = [
  (port) => `http://agent.example@127.0.0.1:${port}/rpc`,
  (port) => `http://agent.example:80@127.0.0.1:${port}/rpc`,
  (port) => `http:127.0.0.1:${port}/rpc`,
  (port) => `http:\\\\127.0.0.1:${port}\\rpc`,
  (port) => `ht\ntp://127.0.0.1:${port}/rpc`,
  (port) => ` http://127.0.0.1:${port}/rpc`,
  (port) => `//127.0.0.1:${port}/rpc`,
  (port) => `gopher://127.0.0.1:${port}/rpc`,
  (port) => `ftp://127.0.0.1:${port}/rpc`,
  (port) => `blob:http://127.0.0.1:${port}/rpc`,
  () => "file:///etc/passwd",
  () => "data:application/json,{}",
  () => "javascript:alert(1)",
  () => "/rpc",
];

describe("a card that names one interface, which leads inside", () => {
  test.each([...insideHosts, ...lookAlikes])(
    "as http://%s, is refused before anything is called",
    async (host) => {
      const world = await createHostileWorld();
      world.card = createTestCard(interfacesAt(`http://${host}:${world.internal.port}/rpc`));

      const error = await caught(world.connect());

      expect(["AddressRefusedError", "CardInvalidError"]).toContain(nameOf(error));
      world.expectUnharmed();
    },
  );

  test.each(insideNames)("behind the name %s, is refused when it is called", async (host) => {
    const world = await createHostileWorld();
    world.card = createTestCard(interfacesAt(`http://${host}:${world.internal.port}/rpc`));
    const client = await world.connect();

    const errors = [await caught(client.sendMessage("x")), await caught(client.sendMessage("x"))];

    expect(errors.map(nameOf)).toEqual(["AddressRefusedError", "AddressRefusedError"]);
    world.expectUnharmed();
  });

  test.each(trickUrls.map((write) => [JSON.stringify(write(1)), write] as const))(
    "as %s, is refused before anything is called",
    async (_shown, write) => {
      const world = await createHostileWorld();
      world.card = createTestCard(interfacesAt(write(world.internal.port)));

      const error = await caught(world.connect());

      expect(["AddressRefusedError", "CardInvalidError"]).toContain(nameOf(error));
      world.expectUnharmed();
    },
  );

  test("beside another one is used without it, and says so", async () => {
    const world = await createHostileWorld();
    const [bad, good] = [
      `http://127.0.0.1:${world.internal.port}/`,
      `http://agent.example:${world.agent.port}/rpc`,
    ];
    world.card = createTestCard(interfacesAt(bad, good));

    const client = await world.connect();
    const reply = await client.sendMessage("x");

    expect([client.pin.interface.url, "message" in reply]).toEqual([good, true]);
    expect(client.deviations).toEqual([
      {
        kind: "unusable-interface",
        path: "$.supportedInterfaces[0].url",
        message: `${bad} is refused: found a loopback address, wanted one on the open internet, or addressPolicy.allowPrivate; the entry is not used`,
      },
    ]);
    world.expectUnharmed();
  });
});

/** What an agent may try that has won a caller, by what it makes of the world. */
const attempts: readonly (readonly [string, (world: HostileWorld, there: string) => void])[] = [
  [
    "names it as its interface",
    (world, there) => {
      world.card = createTestCard(interfacesAt(`${there}/rpc`));
    },
  ],
  [
    "names it as its interface, and asks for credentials",
    (world, there) => {
      world.card = createTestCard({
        ...interfacesAt(`${there}/rpc`),
        securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "bearer" } } },
        securityRequirements: [{ schemes: { b: { list: [] } } }],
      });
    },
  ],
  [
    "names it after an interface of its own that is down",
    (world, there) => {
      world.card = createTestCard(interfacesAt("http://agent.example:1/rpc", `${there}/rpc`));
    },
  ],
  ...[301, 302, 303, 307, 308].map(
    (status) =>
      [
        `redirects the call there by ${status}`,
        (world: HostileWorld, there: string) => {
          world.rpc = () => ({ status, headers: { location: `${there}/rpc` } });
        },
      ] as const,
  ),
  ...[301, 302, 307, 308].map(
    (status) =>
      [
        `redirects the card there by ${status}`,
        (world: HostileWorld, there: string) => {
          world.agent.answer = () => ({
            status,
            headers: { location: `${there}/.well-known/agent-card.json` },
          });
        },
      ] as const,
  ),
  [
    "names it on an error page that redirects",
    (world, there) => {
      world.agent.answer = () => ({ status: 404, headers: { location: there, refresh: `0; url=${there}` } });
    },
  ],
  [
    "asks for the credentials on its behalf",
    (world, there) => {
      world.rpc = () => ({
        status: 401,
        headers: { "www-authenticate": `Bearer realm="${there}", resource_metadata="${there}"` },
      });
    },
  ],
  [
    "names its key set",
    (world, there) => {
      const header = { alg: "ES256", kid: "k", jku: `${there}/jwks.json` };
      const encoded = Buffer.from(JSON.stringify(header)).toString("base64url");
      world.card = { ...world.card, signatures: [{ protected: encoded, signature: "AAAA" }] };
    },
  ],
  [
    "names its token URLs",
    (world, there) => {
      const flow = { tokenUrl: `${there}/token`, scopes: {} };
      world.card = {
        ...world.card,
        securitySchemes: {
          o: { oauth2SecurityScheme: { flows: { clientCredentials: flow }, oauth2MetadataUrl: there } },
          d: {
            openIdConnectSecurityScheme: { openIdConnectUrl: `${there}/.well-known/openid-configuration` },
          },
        },
        securityRequirements: [{ schemes: { o: { list: [] } } }],
      };
    },
  ],
  [
    "names it wherever else a card has a URL",
    (world, there) => {
      world.card = createTestCard({
        ...world.card,
        documentationUrl: there,
        iconUrl: there,
        provider: { url: there, organization: there },
        capabilities: { streaming: true, extensions: [{ uri: there, required: false }] },
        $ref: there,
        "@context": there,
      });
    },
  ],
  [
    "hands out files that lie there",
    (world, there) => {
      world.rpc = ({ body }) => {
        const parts = [{ url: `${there}/file`, mediaType: "text/html" }];
        const message = { messageId: "m", role: "ROLE_AGENT", parts };
        return { body: { jsonrpc: "2.0", id: JSON.parse(body).id, result: { message } } };
      };
    },
  ],
  [
    "moves its interface there between two calls",
    (world, there) => {
      world.rpc = (request) => {
        world.card = createTestCard(interfacesAt(`${there}/rpc`));
        return replyTo(request);
      };
    },
  ],
];

describe.each([
  ["somebody else", (world: HostileWorld) => `http://evil.example:${world.evil.port}`],
  ["something inside", (world: HostileWorld) => `http://127.0.0.1:${world.internal.port}`],
  ["a name that leads inside", (world: HostileWorld) => `http://rebind.example:${world.internal.port}`],
])("an agent that leads to %s", (_who, where) => {
  test.each(attempts)("and %s takes no secret there, and nobody inside", async (_what, prepare) => {
    const world = await createHostileWorld();
    prepare(world, where(world));

    const ends = await liveThrough(world);

    expect(ends.filter((end) => end !== undefined && !isA2ALeaseError(end))).toEqual([]);
    world.expectUnharmed();
  });
});

test("the world sees a secret that goes to somebody else, and a connection to something inside", async () => {
  const world = await createHostileWorld();
  world.card = createTestCard(interfacesAt(`http://evil.example:${world.evil.port}/rpc`));
  const client = await world.connect({ allowedOrigins: [`http://evil.example:${world.evil.port}`] });
  await client.sendMessage("x");
  expect(() => world.expectUnharmed()).toThrow();

  const other = await createHostileWorld();
  await fetch(`http://127.0.0.1:${other.internal.port}`);
  expect(() => other.expectUnharmed()).toThrow();
});

describe("a card that is validly signed", () => {
  test.each([
    [
      "somebody else",
      (world: HostileWorld) => `http://evil.example:${world.evil.port}/rpc`,
      ["MalformedResponseError"],
    ],
    [
      "something inside",
      (world: HostileWorld) => `http://127.0.0.1:${world.internal.port}/rpc`,
      ["AddressRefusedError"],
    ],
    [
      "a name that leads inside",
      (world: HostileWorld) => `http://rebind.example:${world.internal.port}/rpc`,
      ["AddressRefusedError", "AddressRefusedError", "AddressRefusedError", "AddressRefusedError"],
    ],
  ])("leads to %s by the same rules as any other", async (_who, where, refusals) => {
    const signer = createTestSigner("k");
    const world = await createHostileWorld();
    world.card = signer.signed({ ...createTestCard(interfacesAt(where(world))) });

    const signatures = { mode: "require", keys: [signer.jwk] } as const;
    const ends = await liveThrough(world, { signatures });

    expect(ends.flatMap((end) => (end === undefined ? [] : [nameOf(end)]))).toEqual(refusals);
    world.expectUnharmed();
  });
});

test("a card that is handed in came from where it is checked, and from nowhere where it never is", async () => {
  const world = await createHostileWorld();
  const url = `http://127.0.0.1:${world.agent.port}`;
  world.card = createTestCard(interfacesAt(`${url}/rpc`));

  const client = await createClient(world.card, { revalidateAt: `${url}/card.json` });
  const error = await caught(createClient(world.card, { immutable: true }));
  const allowed = await createClient(world.card, {
    immutable: true,
    addressPolicy: { allowHosts: ["127.0.0.1"] },
  });

  expect("message" in (await client.sendMessage("x"))).toBe(true);
  expect(nameOf(error)).toBe("AddressRefusedError");
  expect("message" in (await allowed.sendMessage("x"))).toBe(true);
});

test("a pin that was taken elsewhere leads to no place where a card may not", async () => {
  const world = await createHostileWorld();
  const inside = createTestCard(interfacesAt(`http://127.0.0.1:${world.internal.port}/rpc`));
  world.card = inside;
  const client = await world.connect({ pin: pinCard(inside) });

  expect(nameOf(await caught(client.sendMessage("x")))).toBe("AddressRefusedError");
  world.expectUnharmed();
});

test("a posture that takes every card takes none that leads inside", async () => {
  const world = await createHostileWorld();
  const client = await world.connect({ posture: { onDrift: () => "repin" } });
  await client.sendMessage("x");
  world.card = createTestCard(interfacesAt(`http://127.0.0.1:${world.internal.port}/rpc`));

  const errors = [await caught(client.sendMessage("x")), await caught(client.renegotiate())];

  expect(errors.map(nameOf)).toEqual(["CardDriftError", "AddressRefusedError"]);
  world.expectUnharmed();
});

/** What a caller does with an agent, and what each step ended with. */
async function liveThrough(
  world: HostileWorld,
  options: Parameters<HostileWorld["connect"]>[0] = {},
): Promise<unknown[]> {
  const ends: unknown[] = [];
  const step = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      const result = await work();
      ends.push(undefined);
      return result;
    } catch (error) {
      ends.push(error);
      return undefined;
    }
  };
  const client = await step(() => world.connect(options));
  if (!client) return ends;
  await step(() => client.sendMessage("x"));
  await step(() => client.sendMessage("x"));
  await step(() => client.renegotiate());
  await step(() => client.sendMessage("x"));
  await step(() => client.getTask({ id: "t" }));
  return ends;
}
