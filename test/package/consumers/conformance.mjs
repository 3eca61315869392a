import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as esm from "a2a-lease";
import * as esmTesting from "a2a-lease/testing";

const require = createRequire(import.meta.url);
const cjs = require("a2a-lease");

assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
assert.deepEqual(Object.keys(require("a2a-lease/testing")).sort(), Object.keys(esmTesting).sort());
assert.notEqual(esm.A2ALeaseError, cjs.A2ALeaseError, "two builds, or this proves nothing");

const isError = ([, value]) => typeof value === "function" && value.prototype instanceof Error;
const names = Object.entries(esm)
  .filter(isError)
  .map(([name]) => name);
const classes = names.filter((name) => name !== "A2ALeaseError");
assert.ok(classes.length > 40, `found ${classes.length} classes`);

/** An object of a class as its base makes it, whatever the class itself asks for. */
function make(build, name) {
  const advice = { retry: "never", nextStep: "give-up" };
  return Reflect.construct(build.A2ALeaseError, ["made for a test", advice], build[name]);
}

for (const [here, there] of [
  [esm, cjs],
  [cjs, esm],
]) {
  for (const name of classes) {
    const error = make(here, name);
    assert.ok(error instanceof Error && error instanceof here[name], `${name} is one of its own build`);
    assert.ok(
      error instanceof there.A2ALeaseError && there.isA2ALeaseError(error),
      `${name} is of the other base`,
    );
    const owners = classes.filter((other) => error instanceof there[other]);
    assert.deepEqual(owners, [name], `${name} is one class of the other build, and that one`);
    assert.equal(there[name].code, here[name].code);
  }
  assert.ok(!(new Error("plain") instanceof there.A2ALeaseError));
}

// One that was really thrown, each way.
for (const [here, there] of [
  [esm, cjs],
  [cjs, esm],
]) {
  const notFound = async () => new Response("", { status: 404 });
  await assert.rejects(here.createClient("https://agent.example.com", { fetch: notFound }), (error) => {
    assert.ok(error instanceof there.CardNotFoundError);
    assert.equal(error.name, "CardNotFoundError");
    assert.equal(error.code, "CARD_NOT_FOUND");
    return true;
  });
}

console.log(`${classes.length} classes, both ways`);
