import { describe, expect, test } from "vitest";
import {
  chooseInterface,
  isSameOrigin,
  requireInterface,
  usableInterfaces,
} from "../../src/card/interface.ts";
import { shapeCard } from "../../src/card/parse.ts";
import { CardInvalidError, NoSupportedInterfaceError, ProtocolVersionError } from "../../src/errors/card.ts";
import type { JsonObject } from "../../src/model/schema.ts";
import { baseCard, endpoint, thrownBy } from "./cards.ts";

const cardUrl = "https://agent.example/.well-known/agent-card.json";
const options = { bindings: ["JSONRPC"], cardUrl };
const cardWith = (...supportedInterfaces: readonly JsonObject[]) =>
  shapeCard(baseCard({ supportedInterfaces }), "").card;
const bad = (index: number, problem: string) => ({
  kind: "unusable-interface",
  path: `$.supportedInterfaces[${index}].url`,
  message: `${problem}; the entry is not used`,
});

describe("the interface that is called", () => {
  test.each<[string, readonly JsonObject[], number]>([
    ["the only one", [endpoint()], 0],
    ["the first in card order", [endpoint({ url: "https://agent.example/a" }), endpoint()], 0],
    ["the first whose binding is there", [endpoint({ protocolBinding: "HTTP+JSON" }), endpoint()], 1],
    [
      "the first whose version is there",
      [endpoint({ protocolVersion: "0.3" }), endpoint({ protocolVersion: "1.1" }), endpoint()],
      2,
    ],
    ["one of any patch", [endpoint({ protocolVersion: "1.0.9" })], 0],
    [
      "never one whose binding is only spelled like it",
      [endpoint({ protocolBinding: "jsonrpc" }), endpoint({ protocolBinding: "JSONRPC " }), endpoint()],
      2,
    ],
    [
      "never one whose version only begins like it",
      [
        endpoint({ protocolVersion: "1" }),
        endpoint({ protocolVersion: "1.0-rc1" }),
        endpoint({ protocolVersion: "10.0" }),
        endpoint(),
      ],
      3,
    ],
    ["one with a tenant", [endpoint({ tenant: "t" })], 0],
  ])("is %s", (_what, entries, index) => {
    const card = cardWith(...entries);
    expect(chooseInterface(card, options)).toEqual({
      outcome: "chosen",
      interface: card.supportedInterfaces[index],
      index,
      deviations: [],
    });
  });

  test.each([
    ["/a2a/agent", 'found "/a2a/agent", wanted an absolute URL'],
    ["", 'found "", wanted an absolute URL'],
    ["ws://agent.example/rpc", "found ws://agent.example/rpc, wanted an http or https URL"],
    ["file:///etc/passwd", "found file:///etc/passwd, wanted an http or https URL"],
    [
      "https://u:p@agent.example/rpc",
      "found https://agent.example/rpc with a user name, wanted a URL without credentials",
    ],
    [
      "http://agent.example/rpc",
      "found http://agent.example/rpc, wanted https as the card itself came by https",
    ],
  ])("is not one at %j, which is reported beside the one that is", (url, problem) => {
    const card = cardWith(endpoint({ url }), endpoint(), endpoint({ url, protocolBinding: "HTTP+JSON" }));
    expect(chooseInterface(card, options)).toMatchObject({
      outcome: "chosen",
      index: 1,
      deviations: [bad(0, problem), bad(2, problem)],
    });
  });

  test("may be plain http where the card came that way, or was handed in", () => {
    const card = cardWith(endpoint({ url: "http://agent.example/rpc" }));
    const urls = ["http://agent.example/card.json", undefined];
    expect(urls.map((url) => chooseInterface(card, { ...options, cardUrl: url }).outcome)).toEqual([
      "chosen",
      "chosen",
    ]);
  });

  test("is one of the binding that the caller prefers, wherever it stands, else the first in card order", () => {
    const card = cardWith(
      endpoint({ url: "https://agent.example/a" }),
      endpoint({ url: "https://agent.example/b", protocolBinding: "HTTP+JSON" }),
      endpoint({ url: "https://agent.example/c", protocolBinding: "HTTP+JSON" }),
      endpoint({ url: "https://agent.example/d", protocolBinding: "urn:x" }),
    );
    const bindings = ["JSONRPC", "HTTP+JSON", "urn:x"];
    const order = (...preferredBindings: readonly string[]) =>
      usableInterfaces(card, { bindings, preferredBindings, cardUrl }).map(({ url }) => url.at(-1));
    expect([order(), order("HTTP+JSON"), order("urn:x", "HTTP+JSON"), order("http+json", "GRPC")]).toEqual([
      ["a", "b", "c", "d"],
      ["b", "c", "a", "d"],
      ["d", "b", "c", "a"],
      ["a", "b", "c", "d"],
    ]);
    const choice = chooseInterface(card, { bindings, preferredBindings: ["HTTP+JSON"], cardUrl });
    expect(choice).toMatchObject({ outcome: "chosen", index: 1 });
  });

  test("stands beside a gRPC address, which is no URL and need not be one", () => {
    const card = cardWith(endpoint({ url: "agent.example:443", protocolBinding: "GRPC" }), endpoint());
    expect(chooseInterface(card, options)).toMatchObject({ outcome: "chosen", index: 1, deviations: [] });
  });
});

describe("no interface can be called", () => {
  test("since the URL of every one that fits is bad (A6)", () => {
    const card = cardWith(
      endpoint({ url: "/a" }),
      endpoint({ protocolBinding: "HTTP+JSON" }),
      endpoint({ url: "b" }),
    );
    const error = thrownBy(() => requireInterface(card, options, "sha256:0"));
    expect(error).toBeInstanceOf(CardInvalidError);
    expect(error).toMatchObject({
      url: cardUrl,
      digest: "sha256:0",
      issues: [
        { path: "$.supportedInterfaces[0].url", message: 'found "/a", wanted an absolute URL' },
        { path: "$.supportedInterfaces[2].url", message: 'found "b", wanted an absolute URL' },
      ],
    });
  });

  test("since a binding fits and its versions do not", () => {
    const card = cardWith(
      endpoint({ protocolVersion: "0.3.0" }),
      endpoint({ protocolVersion: "2.0" }),
      endpoint({ protocolVersion: "0.3.0" }),
      endpoint({ protocolBinding: "GRPC", url: "h:1" }),
    );
    const error = thrownBy(() => requireInterface(card, options, "sha256:0"));
    expect(error).toBeInstanceOf(ProtocolVersionError);
    expect(error).toMatchObject({ offered: ["0.3.0", "2.0"], implemented: ["1.0"] });
  });

  test("since no binding fits, and what is offered is told against what is there (J3)", () => {
    const card = cardWith(
      endpoint({ protocolBinding: "GRPC", url: "agent.example:443" }),
      endpoint({
        protocolBinding: "https://bindings.example/x",
        url: "https://u:p@agent.example/x?api_key=s3",
      }),
    );
    const error = thrownBy(() => requireInterface(card, options, "sha256:0"));
    expect(error).toBeInstanceOf(NoSupportedInterfaceError);
    expect(error).toMatchObject({
      offered: [
        {
          ...card.supportedInterfaces[0],
          problem: "gRPC is not built in; a binding for it is handed in as the option bindings",
        },
        {
          ...card.supportedInterfaces[1],
          url: "https://agent.example/x?api_key=***",
          problem: "no such binding here; one is handed in as the option bindings",
        },
      ],
      supported: ["JSONRPC"],
    });
  });
});

test.each([
  [cardUrl, "https://agent.example/rpc", true],
  [cardUrl, "https://agent.example:443/rpc", true],
  [cardUrl, "https://agent.example:8443/rpc", false],
  [cardUrl, "http://agent.example/rpc", false],
  [cardUrl, "https://evil.example/rpc", false],
  [cardUrl, "agent.example:443", false],
  [cardUrl, "blob:https://agent.example/rpc", false],
  [cardUrl, "filesystem:https://agent.example/rpc", false],
  [undefined, "https://agent.example/rpc", false],
])("a card at %s and an interface at %s share an origin: %s", (from, to, isSame) => {
  expect(isSameOrigin(from, to)).toBe(isSame);
});
