import { createClient, createMemoryLedger, isA2ALeaseError, type Ledger } from "a2a-lease";
import { answer, createScriptedAgent, createTestCard, createTestClock, event, step } from "a2a-lease/testing";
import { expect, test } from "vitest";
import { inspect } from "node:util";

function setUp(options: any = {}) {
  const clock = createTestClock();
  const agent = createScriptedAgent({ clock, ...options });
  const connect = (more: any = {}) => createClient(agent.url, { fetch: agent.fetch as any, clock, ...more });
  return { clock, agent, connect };
}
const tell = async (p: Promise<any>) => {
  try { const v = await p; return { ok: v }; } catch (e: any) { return { name: e?.name, msg: String(e?.message ?? e), ours: isA2ALeaseError(e), retry: e?.retry, cause: e?.cause?.name }; }
};
async function started(client: any) {
  const r = await client.sendMessage("go");
  return r.task;
}

test("concurrent gets", async () => {
  const { agent, connect } = setUp();
  agent.plan([step.working(), step.hold?.() ?? step.working()] as any);
  const client = await connect();
  const h = await started(client);
  for (const n of [2, 6, 7, 8, 20]) {
    const rs = await Promise.all(Array.from({ length: n }, () => tell(h.get())));
    console.log("concurrent gets", n, rs.filter((r) => !r.ok).length, rs.find((r) => !r.ok));
  }
});

test("ledger fails after send", async () => {
  const { agent, connect } = setUp();
  const inner = createMemoryLedger();
  let fail = false;
  const ledger: Ledger = { ...inner, write: async (k, r, n) => { if (fail) throw new Error("db down"); return inner.write(k, r, n); } };
  const client = await connect({ ledger });
  agent.once("SendMessage", ((req: any) => { fail = true; return answer.acceptThenReset(); }) as any);
  console.log("reset+ledger", await tell(client.sendMessage("a")), agent.acceptedMessageIds.length);
  fail = false;
  agent.once("SendMessage", ((req: any) => { fail = true; return undefined; }) as any);
  console.log("ok+ledger", await tell(client.sendMessage("b")), agent.acceptedMessageIds.length);
});

test("ledger hangs", async () => {
  const { agent, connect, clock } = setUp();
  const inner = createMemoryLedger();
  let hang = false;
  const ledger: Ledger = { ...inner, write: (k, r, n) => hang ? new Promise(() => {}) : inner.write(k, r, n), read: (k) => hang ? new Promise(() => {}) : inner.read(k) };
  const client = await connect({ ledger });
  hang = true;
  const ac = new AbortController();
  let done: any;
  tell(client.sendMessage("a", { timeoutMs: 1000, signal: ac.signal })).then((r) => (done = r));
  await clock.advance(1_000_000);
  ac.abort(new Error("mine"));
  await clock.advance(1000);
  console.log("ledger hang send:", done);
  let done2: any;
  tell(client.getTask({ id: "x" }, { timeoutMs: 1000 })).then((r) => (done2 = r));
  await clock.advance(1_000_000);
  console.log("ledger hang get:", done2);
  let done3: any;
  tell(client.close()).then((r) => (done3 = r));
  await clock.advance(1000);
  console.log("after close", done, done2, done3);
});

test("conflict then read throws", async () => {
  const { agent, connect } = setUp();
  const inner = createMemoryLedger();
  let bad = false;
  const ledger: Ledger = { ...inner, read: async (k) => { if (bad) throw new Error("plain"); return inner.read(k); } };
  const client = await connect({ ledger });
  const h = await started(client);
  // other process writes
  const key = JSON.stringify(["task", client.lease.url, "default", h.id]);
  const e = await inner.read(key);
  await inner.write(key, e!.record, e!.revision);
  bad = true;
  console.log("conflict read throws", await tell(h.get()));
});

test("lease ends while the ledger writes the intent", async () => {
  const { agent, connect, clock } = setUp();
  const inner = createMemoryLedger();
  let gate: any; let hold = false;
  const ledger: Ledger = { ...inner, write: async (k, r, n) => { if (hold) { hold = false; await new Promise((ok) => (gate = ok)); } return inner.write(k, r, n); } };
  const client = await connect({ ledger });
  hold = true;
  const a = tell(client.sendMessage("a"));
  await clock.advance(0);
  agent.rotateCard((c: any) => ({ ...c, description: "other" }));
  const b = await tell(client.sendMessage("b"));
  console.log("b", b.name, client.signal.aborted);
  gate();
  console.log("a", await a, agent.calls("SendMessage").length);
});

test("lease ends while credentials are fetched", async () => {
  const { agent, connect, clock } = setUp();
  let gate: any; let hold = false;
  const credentials = async () => { if (hold) { hold = false; await new Promise((ok) => (gate = ok)); } return { headers: { authorization: "Bearer x" } }; };
  const client = await connect({ credentials });
  hold = true;
  const a = tell(client.sendMessage("a"));
  await clock.advance(0);
  agent.rotateCard((c: any) => ({ ...c, description: "other" }));
  const b = await tell(client.sendMessage("b"));
  console.log("cred b", b.name, client.signal.aborted);
  gate();
  console.log("cred a", await a, agent.calls("SendMessage").length);
});

test("json-rpc 401 code resends", async () => {
  const { agent, connect, clock } = setUp();
  const client = await connect({ credentials: async () => ({ headers: { authorization: "Bearer x" } }) });
  agent.once("SendMessage", answer.acceptThen(answer.error(401, "upstream model said 401")));
  console.log("401 code", await tell(client.sendMessage("a")), agent.calls("SendMessage").length, agent.acceptedMessageIds);
});

test("timeouts not validated", async () => {
  const { agent, connect, clock } = setUp();
  const client = await connect();
  for (const timeoutMs of [Number.NaN, "5" as any, -1, null as any]) {
    agent.once("GetTask", answer.silence());
    let done: any; const ac = new AbortController();
    tell(client.getTask({ id: "x" }, { timeoutMs, signal: ac.signal })).then((r) => (done = r));
    await clock.advance(3_000_000);
    console.log("timeoutMs", timeoutMs, done);
    ac.abort();
  }
  console.log("signal {}", await tell(client.sendMessage("x", { signal: {} as any })));
  console.log("null", await tell(client.sendMessage(null as any)));
  console.log("[null]", await tell(client.sendMessage([null] as any)));
  const data: any = { n: 1 }; data.self = data;
  console.log("cycle", await tell(client.sendMessage([{ data }] as any)));
  console.log("bytes", await tell(client.sendMessage([{ data: new Uint8Array(3) }] as any)));
  const d2: any = { n: 1 };
  await client.sendMessage([{ data: d2 }] as any);
  console.log("frozen caller's data", Object.isFrozen(d2));
  console.log("requires str", await tell(client.sendMessage("x", { requires: { skills: "summarize" } as any })));
  console.log("requires null", await tell(client.sendMessage("x", { requires: { skills: null } as any })));
  console.log("contextId num", await tell(client.sendMessage("x", { contextId: 5 as any })));
  const cyc: any = {}; cyc.c = cyc;
  console.log("cyclic card", await tell(createClient(cyc, { immutable: true })));
  console.log("null opts", await tell(createClient("https://x.example", null as any)));
  console.log("pin {}", await tell(connect({ pin: {} as any })));
  console.log("watch Infinity", (() => { try { return client.watch({ everyMs: Number.POSITIVE_INFINITY })(); } catch (e) { return e; } })());
});

test("credential shapes", async () => {
  const { agent, connect, clock } = setUp();
  for (const c of [async () => ({}), async () => "tok", () => ({ headers: { a: "b" } }), async () => ({ headers: { a: 1 } }), async () => ({ headers: new Headers({ authorization: "Bearer z" }) }), async () => ({ headers: null }), async () => null, async () => ({ headers: { "x-a": "a\r\nb: c" } }), async () => ({ headers: { "x-ü": "a" } }), async () => ({ headers: ["a"] }), () => { throw "str"; }, async () => { throw undefined; }]) {
    const client = await connect({ credentials: c as any });
    agent.clearTranscript();
    const r = await tell(client.sendMessage("a"));
    console.log("cred", String(c), r.ok ? "OK " + JSON.stringify(agent.calls("SendMessage")[0]?.headers?.authorization) : r, agent.cardReads().length);
  }
});

test("fetch seams", async () => {
  const { agent, clock } = setUp();
  const seams: any = {
    string: (inner: any) => { throw "str"; },
    rejectNull: () => Promise.reject(null),
    rejectUndef: () => Promise.reject(undefined),
    undef: async () => undefined,
    nonResponse: async () => ({ status: 200, headers: new Headers(), body: "text" }),
    plainHeaders: async () => ({ status: 200, headers: {}, body: null }),
    used: async () => { const r = new Response(JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }), { headers: { "content-type": "application/json" } }); await r.text(); return r; },
    locked: async () => { const r = new Response("{}"); r.body!.getReader(); return r; },
    sync: () => new Response("{}"),
    statusNaN: async () => ({ status: Number.NaN, headers: new Headers(), body: null }),
    errBody: async () => new Response(new ReadableStream({ start(c) { c.error(null); } })),
    strBody: async () => new Response(new ReadableStream({ start(c) { c.enqueue("abc" as any); c.close(); } })),
    fuchs: () => Promise.reject(new Proxy({}, { get() { throw new Error("gotcha"); } })),
  };
  for (const [name, seam] of Object.entries(seams) as any) {
    let on = false;
    const fetch = (u: any, i: any) => (on && i.method === "POST" ? seam() : agent.fetch(u, i));
    const client = await createClient(agent.url, { fetch: fetch as any, clock });
    on = true;
    console.log("seam", name, await tell(client.sendMessage("a")));
    on = false;
    let on2 = true;
    const f2 = (u: any, i: any) => (on2 ? seam() : agent.fetch(u, i));
    console.log("   card", await tell(createClient(agent.url, { fetch: f2 as any, clock })));
  }
});
