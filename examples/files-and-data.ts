/** Files and data in both directions: bytes, a URL and JSON go out, and a file and a table come back. */
import assert from "node:assert/strict";
import { createClient, filePart as file, type Part } from "a2a-lease";
import { createScriptedAgent, createTestCard, step } from "a2a-lease/testing";

/** An agent that turns a picture upside down: its bytes come back in reverse, with a word and a table about it. */
const turnAround = (parts: readonly Part[]) => {
  const bytes = parts.flatMap((part) => [...(bytesOf(part) ?? [])]).reverse();
  return [
    step.working(),
    step.artifact("picture", [
      file(Uint8Array.from(bytes), { mediaType: "image/png", filename: "turned.png" }),
    ]),
    step.artifact("report", [{ text: "Turned around." }, { data: { pixels: bytes.length } }]),
    step.completed(),
  ];
};
const anything = { defaultInputModes: ["*/*"], defaultOutputModes: ["*/*"] };
const agent = createScriptedAgent({
  card: createTestCard(anything),
  plan: ({ parts }) => turnAround(parts),
});
const port = await agent.listen();
const client = await createClient(port.url);
const pixels = Uint8Array.of(137, 80, 78, 71);

// #region parts
import { bytesOf, dataPart, filePart, textOf, textPart } from "a2a-lease";

const outcome = await client.delegate([
  textPart("Turn the picture around, like the one on our site."),
  filePart(pixels, { mediaType: "image/png", filename: "cat.png" }),
  filePart("https://files.example/logo.png", { mediaType: "image/png" }),
  dataPart({ angle: 180 }),
]);
if (outcome.status !== "completed") throw new Error(outcome.status);

for (const { name, artifactId, parts } of outcome.artifacts) {
  console.log(name ?? artifactId, textOf(parts).text);
  for (const part of parts) {
    const bytes = bytesOf(part); // of a part that carries bytes; what is behind a URL is yours to read or not
    if (bytes) console.log(part.filename, part.mediaType, bytes.length);
    if ("data" in part) console.log(JSON.stringify(part.data));
  }
}
// #endregion parts

const [picture, words] = outcome.artifacts.map(({ parts }) => parts);
assert.deepEqual(picture?.map(bytesOf), [Uint8Array.from(pixels).reverse()]);
assert.deepEqual(words?.at(-1), { data: { pixels: 4 } });
// The text of the outcome says what it left out: a file is never put into words.
assert.equal(outcome.text, "Turned around.");
assert.equal(outcome.skipped.length, 2);

// A Blob, or a File, says itself what it is.
const note = await filePart(new File(["hello"], "note.txt", { type: "text/plain" }));
assert.deepEqual(note, { raw: "aGVsbG8=", mediaType: "text/plain", filename: "note.txt" });

await client.close();
await port.close();
