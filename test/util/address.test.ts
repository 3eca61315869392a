import { describe, expect, test } from "vitest";
import { isLoopback, judgeAddress, originOfUrl } from "../../src/util/address.ts";

const judge = (host: string) => judgeAddress(new URL(`https://${host}/hook`));

describe("an address is judged by its text", () => {
  test.each([
    "127.0.0.1",
    "127.255.0.9",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.1",
    "127.0.0.1.",
    "0.0.0.0",
    "0",
    "localhost",
    "LOCALHOST.",
    "api.localhost",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
  ])("%s is the machine itself", (host) => {
    expect(judge(host)).toBe("loopback");
  });

  test.each([
    "10.0.0.5",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "198.19.0.1",
    "167772165",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fec0::1]",
    "[::ffff:10.0.0.5]",
    "[::ffff:0:10.0.0.5]",
    "[64:ff9b:1::1]",
    "hook",
    "printer.local",
    "metadata.google.internal",
    "nas.home.arpa",
  ])("%s is in a private network", (host) => {
    expect(judge(host)).toBe("private");
  });

  test.each(["169.254.169.254", "0xa9fea9fe", "[fe80::1]", "[::ffff:169.254.169.254]"])(
    "%s is link-local",
    (host) => {
      expect(judge(host)).toBe("link-local");
    },
  );

  test.each([
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "203.0.113.9",
    "[ff02::1]",
    "[2001:db8::1]",
  ])("%s is reserved", (host) => {
    expect(judge(host)).toBe("reserved");
  });

  test.each([
    "agent.example.com",
    "localhost.example.com",
    "8.8.8.8",
    "11.0.0.1",
    "172.32.0.1",
    "100.128.0.1",
    "192.169.0.1",
    "169.253.0.1",
    "[2606:4700::1111]",
    "[::ffff:8.8.8.8]",
    "[2002:808:808::]",
  ])("%s may be on the open internet", (host) => {
    expect(judge(host)).toBe("public");
  });
});

describe("plain http gives nothing away", () => {
  test.each([
    "127.0.0.1",
    "127.1.2.3",
    "127.1",
    "0x7f.1",
    "2130706433",
    "127.0.0.1.",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "foo.localhost",
    "0.localhost",
  ])("on this machine, spelt %s", (host) => {
    expect(isLoopback(new URL(`http://${host}/`))).toBe(true);
  });

  test.each([
    "127.0.0.1.evil.com",
    "localhost.evil.com",
    "notlocalhost",
    "evil-localhost.com",
    "128.0.0.1",
    "10.0.0.1",
    "0.0.0.0",
    "[::]",
    "[::2]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
  ])("and on no other way, %s", (host) => {
    expect(isLoopback(new URL(`http://${host}/`))).toBe(false);
  });
});

test.each([
  ["https://agent.example:443/x?y#z", "https://agent.example"],
  ["http://[::1]:8080/", "http://[::1]:8080"],
  ["wss://agent.example/x", "wss://agent.example"],
  ["blob:https://agent.example/0b3e", undefined],
  ["blob:http://127.0.0.1:3000/0b3e", undefined],
  ["filesystem:https://agent.example/temporary/x", undefined],
  ["data:text/plain,x", undefined],
  ["file:///etc/passwd", undefined],
  ["no url", undefined],
])("the origin of %s is %s", (url, origin) => {
  expect(originOfUrl(url)).toBe(origin);
});
