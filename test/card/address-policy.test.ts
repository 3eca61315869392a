import { describe, expect, test } from "vitest";
import {
  type AddressContext,
  type AddressPolicy,
  checkAddressPolicy,
  interfaceAddressProblem,
} from "../../src/card/address-policy.ts";

const publicCard = "https://agent.example/card.json";
const judge = (url: string, cardUrl: string | undefined, policy: AddressPolicy = {}) =>
  interfaceAddressProblem({ url }, cardUrl, checkAddressPolicy("addressPolicy", policy));

describe("an interface is called", () => {
  test.each<[string, string | undefined, AddressPolicy]>([
    ["https://agent.example/rpc", publicCard, {}],
    ["https://rpc.example/rpc", publicCard, {}],
    ["https://rpc.example/rpc", undefined, {}],
    ["https://93.184.215.14/rpc", publicCard, {}],
    // The card came from there.
    ["http://127.0.0.1:2/rpc", "http://127.0.0.1:1/card.json", {}],
    ["http://localhost:2/rpc", "http://127.0.0.1:1/card.json", {}],
    ["http://[::1]:2/rpc", "http://localhost:1/card.json", {}],
    ["https://10.0.0.6/rpc", "https://10.0.0.5/card.json", {}],
    ["https://agent.corp.internal/rpc", "https://10.0.0.5/card.json", {}],
    ["https://169.254.1.1/rpc", "https://169.254.1.1/card.json", {}],
    ["https://b\u00fccher.example/rpc", "https://b\u00fccher.example/card.json", {}],
    ["https://rpc.example/rpc", "http://127.0.0.1:1/card.json", {}],
    // The caller allowed it.
    ["https://10.0.0.5/rpc", publicCard, { allowPrivate: true }],
    ["https://127.0.0.1/rpc", undefined, { allowPrivate: true }],
    ["http://rpc.example/rpc", "http://agent.example/card.json", { allowHttp: true }],
    ["http://10.0.0.5/rpc", undefined, { allowHosts: ["10.0.0.5"] }],
    ["https://[fd12::1]/rpc", publicCard, { allowHosts: ["[fd12::1]"] }],
    ["https://169.254.169.254/rpc", publicCard, { allowHosts: ["169.254.169.254"] }],
    ["https://b\u00fccher.example/rpc", publicCard, { allowHosts: ["xn--bcher-kva.example"] }],
    ["https://10.0.0.5/rpc", publicCard, { allow: () => true }],
    // No host to be seen.
    ["queue:agents", publicCard, {}],
    ["urn:agent:7", publicCard, {}],
    ["dns:///grpc.example:443", publicCard, {}],
    ["grpc.example:443/tasks/0", publicCard, {}],
    ["unix:/run/agent.sock", "http://127.0.0.1/card.json", {}],
    ["unix:/run/agent.sock", publicCard, { allowPrivate: true }],
    ["grpc.example:443", publicCard, {}],
    ["grpc://grpc.example:443", publicCard, {}],
  ])("at %s, from a card at %s, under %j", (url, cardUrl, policy) => {
    expect(judge(url, cardUrl, policy)).toBeUndefined();
  });
});

describe("an interface is not called", () => {
  test.each<[string, string | undefined, AddressPolicy, string]>([
    ["https://127.0.0.1/rpc", publicCard, {}, "loopback"],
    ["https://127.0.0.1/rpc", undefined, {}, "loopback"],
    ["https://127.0.0.1/rpc", "https://10.0.0.5/card.json", {}, "loopback"],
    ["https://10.0.0.5/rpc", "http://127.0.0.1/card.json", {}, "private"],
    ["https://10.0.0.5/rpc", publicCard, {}, "private"],
    ["https://169.254.169.254/rpc", "http://127.0.0.1/card.json", {}, "link-local"],
    ["https://169.254.169.254/rpc", publicCard, { allowPrivate: true }, "link-local"],
    ["https://224.0.0.1/rpc", publicCard, { allowPrivate: true }, "reserved"],
    ["https://169.254.1.2/rpc", "https://169.254.1.1/card.json", {}, "link-local"],
    [
      "https://agent.corp/rpc",
      publicCard,
      { allowHosts: ["agent.corp.example"], allow: () => false },
      "allow",
    ],
    ["http://rpc.example/rpc", "http://agent.example/card.json", {}, "http, wanted https"],
    ["http://rpc.example/rpc", "http://127.0.0.1/card.json", {}, "http, wanted https"],
    ["http://127.0.0.1/rpc", "https://127.0.0.1/card.json", {}, "http, wanted https"],
    ["http://10.0.0.5/rpc", "http://10.0.0.5/card.json", {}, "http, wanted https"],
    ["http://rpc.example/rpc", undefined, {}, "http, wanted https"],
    ["https://ex\u00e4mple.example/rpc", publicCard, {}, "beyond ASCII"],
    ["https://\u0430gent.example/rpc", publicCard, {}, "beyond ASCII"],
    ["https://agent.example/rpc", publicCard, { allow: () => false }, "addressPolicy.allow refuses"],
    ["https://agent.example/rpc", publicCard, { allow: (async () => true) as never }, "refuses"],
    ["10.0.0.5:443", publicCard, {}, "private"],
    ["localhost:443", publicCard, {}, "loopback"],
    ["grpc://0x7f.1:443", publicCard, {}, "loopback"],
    ["unix:/run/agent.sock", publicCard, {}, "loopback"],
    ["UNIX:///run/agent.sock", undefined, {}, "loopback"],
    ["vsock:2:1024", publicCard, {}, "loopback"],
    ["dns:///10.0.0.1:443", publicCard, {}, "private"],
    ["dns:///0x7f.1:443", publicCard, {}, "loopback"],
    ["dns://9.9.9.9/169.254.169.254:80", publicCard, { allowPrivate: true }, "link-local"],
    ["ipv4:10.0.0.1:443", publicCard, {}, "private"],
    ["ipv4:9.9.9.9:443,127.0.0.1:443", publicCard, {}, "loopback"],
    ["ipv6:[::1]:443", publicCard, {}, "loopback"],
    ["ipv6:[::ffff:10.0.0.1]:443", publicCard, {}, "private"],
    ["10.0.0.1", publicCard, {}, "private"],
    ["localhost", publicCard, {}, "loopback"],
    ["10.0.0.1:443/", publicCard, {}, "private"],
    ["localhost:443/a?b", publicCard, {}, "loopback"],
    ["grpc:\\\\127.0.0.1:443", publicCard, {}, "loopback"],
    ["grpc:/127.0.0.1:443", publicCard, {}, "loopback"],
    ["user@127.0.0.1:443", publicCard, {}, "loopback"],
  ])("at %s, from a card at %s, under %j", (url, cardUrl, policy, found) => {
    expect(judge(url, cardUrl, policy)).toContain(found);
  });

  test("where the caller's own function throws", () => {
    const allow = () => {
      throw new TypeError("no");
    };
    expect(judge("https://agent.example/rpc", publicCard, { allow })).toContain("allow threw");
  });
});

describe("the caller's own function", () => {
  test("is told what the rules found, and where the card came from", () => {
    const asked: [string, AddressContext][] = [];
    const allow = (url: URL, context: AddressContext) => {
      asked.push([url.href, context]);
      return true;
    };
    judge("https://10.0.0.5/rpc", publicCard, { allow });
    judge("https://agent.example/rpc", undefined, { allow });
    expect(asked).toEqual([
      [
        "https://10.0.0.5/rpc",
        {
          purpose: "interface",
          cardUrl: publicCard,
          problem: "found a private address, wanted one on the open internet, or addressPolicy.allowPrivate",
        },
      ],
      ["https://agent.example/rpc", { purpose: "interface" }],
    ]);
  });
});

describe("what would let it through is named", () => {
  test.each<[string, string | undefined, string, AddressPolicy]>([
    ["https://10.0.0.5/rpc", publicCard, "addressPolicy.allowPrivate", { allowPrivate: true }],
    ["https://127.0.0.1/rpc", undefined, "addressPolicy.allowPrivate", { allowPrivate: true }],
    ["http://rpc.example/rpc", undefined, "addressPolicy.allowHttp", { allowHttp: true }],
    [
      "https://169.254.169.254/rpc",
      publicCard,
      "addressPolicy.allowHosts",
      { allowHosts: ["169.254.169.254"] },
    ],
    ["https://224.0.0.1/rpc", publicCard, "addressPolicy.allowHosts", { allowHosts: ["224.0.0.1"] }],
    [
      "https://ex\u00e4mple.example/rpc",
      publicCard,
      "addressPolicy.allowHosts",
      { allowHosts: ["xn--exmple-cua.example"] },
    ],
  ])("%s, from a card at %s: %s", (url, cardUrl, option, policy) => {
    expect(judge(url, cardUrl)).toMatch(new RegExp(`wanted .*${option}$`));
    expect(judge(url, cardUrl, policy)).toBeUndefined();
  });
});

describe("a policy that is wrong is named", () => {
  test.each([
    ["allowPrivate", { allowPrivate: "yes" }],
    ["allowHttp", { allowHttp: 1 }],
    ["allowHosts", { allowHosts: "agent.corp" }],
    ["allowHosts", { allowHosts: ["https://agent.corp"] }],
    ["allowHosts", { allowHosts: ["b\u00fccher.example"] }],
    ["allow", { allow: true }],
    ["allowPrivat", { allowPrivat: true }],
  ])("%s of %j", (name, policy) => {
    expect(() => checkAddressPolicy("addressPolicy", policy as never)).toThrow(`addressPolicy.${name}: `);
  });
});
