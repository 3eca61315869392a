import { readFileSync } from "node:fs";
import type { SeenCall } from "./rig.ts";

/** One exchange as it was recorded at a real server. */
export interface Capture {
  /** Method of the request, where it was recorded. */
  readonly method: string;
  /** Head and body of the answer. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Reads a recording of one exchange. */
export function readCapture(name: string): Capture {
  return readExchange(readRecording(name));
}

/** Reads a recording as it stands. */
export function readRecording(name: string): string {
  return readFileSync(new URL(`captures/${name}.txt`, import.meta.url), "utf8");
}

/** Reads one part of a recording that has several, by its heading. */
export function readSection(name: string, heading: string): string {
  const parts = readRecording(name).split(/^### /m);
  const section = parts.find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return section.slice(heading.length + 1);
}

/** Reads an exchange whose request, if any, comes before a line that begins with HTTP/1.1. */
export function readExchange(text: string): Capture {
  const start = text.search(/^HTTP\/1\.1 /m);
  const [head = "", ...rest] = text.slice(start).split(/\r?\n\r?\n/);
  const [statusLine = "", ...fields] = head.split(/\r?\n/);
  const headers = new Headers(fields.map((field) => field.split(/: (.*)/s).slice(0, 2) as [string, string]));
  return {
    method: /"method":"([^"]+)"/.exec(text.slice(0, start))?.[1] ?? "",
    status: Number(statusLine.split(" ")[1]),
    headers,
    body: rest.join("\n\n"),
  };
}

/** Answers a request as it was recorded, under the id that the request has. */
export const replay =
  ({ status, headers, body }: Capture) =>
  (seen: SeenCall): Response =>
    new Response(
      body.replaceAll(/"id":(?:"req-[^"]+"|\d+)(?=,"(?:result|error)")/g, `"id":${seen.body.id}`),
      {
        status,
        headers,
      },
    );

/** Answers with a JSON-RPC body that was recorded without its head. */
export const replayBody = (body: string) =>
  replay({ method: "", status: 200, headers: new Headers({ "content-type": "application/json" }), body });
