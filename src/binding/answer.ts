import { HttpStatusError, MalformedResponseError } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import type { OperationName } from "../model/operations.ts";
import { isRecord } from "../util/freeze.ts";
import { cut, secretParameters, secretsIn, strikeSecrets } from "../util/redact.ts";
import { discardBody, readBeginning, readText } from "../wire/body.ts";
import type { HttpResponse } from "../wire/http.ts";
import type { BindingCall, BindingOptions } from "./binding.ts";
import { errorOf, type SentSecrets } from "./errors.ts";
import { readJson } from "./json.ts";
import { type RemoteFailure, readRemoteFailure } from "./remote-failure.ts";

/** Media type of a stream of server-sent events. */
export const eventStreamType = "text/event-stream";

/** How much of a body an error shows, in characters. */
export const snippetLength = 500;

/** The JSON of an answer with a status of success. */
export interface JsonAnswer {
  /** The JSON. */
  readonly value: unknown;
  /** The beginning of its text, for an error about it. */
  readonly snippet: string;
  /** What was odd about the head. */
  readonly deviations: readonly Deviation[];
}

/** Whether a status is one of success. */
export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/**
 * Reads the body of an answer with a status of success as JSON, also when its media type is another one.
 *
 * @throws HttpStatusError when it is something else than JSON by its media type too, MalformedResponseError when it
 * should be JSON, LimitExceededError, and what reading a body throws.
 */
export async function readJsonAnswer(
  response: HttpResponse,
  call: BindingCall,
  options: BindingOptions,
): Promise<JsonAnswer> {
  const { url, status, mediaType } = response;
  const isJson = /[/+]json$/.test(mediaType);
  const text = await readTextOf(response, call, options);
  const secrets = secretsOf(call);
  const snippet = strikeSecrets(cut(text, snippetLength), secrets);
  const reading = readJson(text, options.limits.responseDepth);
  if (reading.ok) {
    const found = mediaType === "" ? "no media type" : strikeSecrets(cut(mediaType, 80), secrets);
    const deviation = { kind: "wrong-media-type", message: `found ${found}, wanted application/json` };
    return { value: reading.value, snippet, deviations: isJson ? [] : [deviation] };
  }
  if (isJson || mediaType === "") throw new MalformedResponseError([reading.issue], snippet);
  throw new HttpStatusError({
    url,
    status,
    contentType: strikeSecrets(cut(mediaType, 100), secrets),
    body: snippet,
  });
}

/** All of what may be JSON, the beginning of what will hardly be, and nothing of a stream, which may never end. */
async function readTextOf(
  response: HttpResponse,
  call: BindingCall,
  options: BindingOptions,
): Promise<string> {
  const { mediaType } = response;
  if (mediaType === eventStreamType) {
    discardBody(response);
    return "";
  }
  const isLikely = /[/+]json$/.test(mediaType) || mediaType === "" || mediaType === "text/plain";
  return isLikely
    ? readText(response, bodyOptions("responseBytes", call, options))
    : readBeginning(response, bodyOptions("errorBytes", call, options));
}

/**
 * The error that an answer without a status of success is: what its body says, else what its status says.
 *
 * @throws the reason of the caller's signal.
 */
export async function readErrorAnswer(
  operation: OperationName,
  response: HttpResponse,
  { call, options }: { readonly call: BindingCall; readonly options: BindingOptions },
): Promise<ReturnType<typeof errorOf>> {
  const body = await readBeginning(response, bodyOptions("errorBytes", call, options));
  const failure = failureIn(body, options.limits.responseDepth);
  return errorOf({
    operation,
    ...headOf(response),
    httpStatus: response.status,
    sent: sentBy(call),
    body,
    ...(failure === undefined ? {} : { failure }),
  });
}

/** What a call sent that an agent may give back: no error may tell of it. */
export function sentBy({ headers, query, interface: { url } }: BindingCall): SentSecrets {
  return { headers, query: { ...secretParameters(url), ...query } };
}

/** The same as the texts that no error may hold. */
export function secretsOf(call: BindingCall): readonly string[] {
  const { headers, query } = sentBy(call);
  return secretsIn(headers, query);
}

/** What the head of an answer adds to an error. */
export function headOf(response: HttpResponse) {
  const { url, mediaType, retryAfterMs } = response;
  const challenge = response.headers.get("www-authenticate");
  return {
    url,
    ...(mediaType === "" ? {} : { contentType: mediaType }),
    ...(challenge === null ? {} : { challenge }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The error object of a body, where it has one; a text in its place is a framework's and says nothing of A2A. */
function failureIn(body: string, maxDepth: number): RemoteFailure | undefined {
  try {
    const reading = readJson(body, maxDepth);
    if (!reading.ok || !isRecord(reading.value) || !isRecord(reading.value.error)) return undefined;
    return readRemoteFailure(reading.value.error);
  } catch {
    // Too deep to be looked at: the status decides.
    return undefined;
  }
}

function bodyOptions(limit: "responseBytes" | "errorBytes", call: BindingCall, options: BindingOptions) {
  const { clock, limits } = options;
  return { clock, signal: call.signal, idleMs: call.timeouts.idleMs, limit, maxBytes: limits[limit] };
}
