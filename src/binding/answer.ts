import { HttpStatusError, MalformedResponseError, type ResponseIssue } from "../errors/transport.ts";
import type { Deviation } from "../model/deviation.ts";
import type { OperationName } from "../model/operations.ts";
import { cut } from "../util/redact.ts";
import { strikeJson, strikeSecrets } from "../util/strike.ts";
import { discardBody, readBeginning, readText } from "../wire/body.ts";
import type { HttpResponse } from "../wire/http.ts";
import type { BindingCall, BindingOptions } from "./binding.ts";
import { errorOf } from "./errors.ts";
import { readJson } from "./json.ts";
import type { RemoteFailure } from "./remote-failure.ts";

/** Media type of a stream of server-sent events. */
export const eventStreamType = "text/event-stream";

/** How much of a body an error shows, in characters. */
const snippetLength = 500;

/** How much of a body is looked at for a snippet, so that no secret is cut in half. */
const maxSnippetSource = 8_192;

/** What reading an answer depends on. */
export interface ReadingContext {
  /** The call that is answered. */
  readonly call: BindingCall;
  /** What the binding is built on. */
  readonly options: BindingOptions;
  /** The secrets that went out with it. */
  readonly secrets: readonly string[];
}

/** The JSON of an answer with a status of success. */
export interface JsonAnswer {
  /** The JSON. */
  readonly value: unknown;
  /** The beginning of its text, for an error about it; made when it is asked for. */
  readonly snippet: string;
  /** What was odd about the head. */
  readonly deviations: readonly Deviation[];
}

/** Whether a status is one of success. */
export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/** Whether an operation is answered with nothing (3.1.10): no body says that as well as an empty object. */
export function isAnsweredWithNothing(operation: OperationName): boolean {
  return operation === "DeleteTaskPushNotificationConfig";
}

/**
 * Reads the body of an answer with a status of success as JSON, also when its media type is another one. The value is
 * `undefined` for a body without anything in it, where the operation has nothing to say.
 *
 * @throws HttpStatusError when it is something else than JSON by its media type too, MalformedResponseError when it
 * should be JSON, LimitExceededError, and what reading a body throws.
 */
export async function readJsonAnswer(
  operation: OperationName,
  response: HttpResponse,
  { call, options, secrets }: ReadingContext,
): Promise<JsonAnswer> {
  const { url, status, mediaType } = response;
  const isJson = /[/+]json$/.test(mediaType);
  const text = await readTextOf(response, { call, options, secrets });
  if (text.trim() === "" && mediaType !== eventStreamType && isAnsweredWithNothing(operation)) {
    return { value: undefined, snippet: "", deviations: [] };
  }
  const beginning = cut(text, maxSnippetSource);
  const snippetOf = () => cut(strikeSecrets(beginning, secrets), snippetLength);
  const reading = readJson(text, options.limits.responseDepth);
  if (reading.ok) {
    const found = mediaType === "" ? "no media type" : cut(strikeSecrets(mediaType, secrets), 80);
    const deviation = { kind: "wrong-media-type", message: `found ${found}, wanted application/json` };
    return {
      value: reading.value,
      get snippet() {
        return snippetOf();
      },
      deviations: isJson ? [] : [deviation],
    };
  }
  if (isJson || mediaType === "") throw new MalformedResponseError([reading.issue], snippetOf());
  throw new HttpStatusError({
    url,
    status,
    contentType: cut(strikeSecrets(mediaType, secrets), 100),
    body: snippetOf(),
  });
}

/** The error of an answer that can't be read, without what was sent with its request. */
export function malformedAnswer(
  issues: readonly ResponseIssue[],
  snippet: string,
  secrets: readonly string[],
): MalformedResponseError {
  return new MalformedResponseError(strikeJson(issues, secrets), snippet);
}

/** All of what may be JSON, the beginning of what will hardly be, and nothing of a stream, which may never end. */
async function readTextOf(
  response: HttpResponse,
  { call, options, secrets }: ReadingContext,
): Promise<string> {
  const { mediaType } = response;
  if (mediaType === eventStreamType) {
    discardBody(response);
    return "";
  }
  const isLikely = /[/+]json$/.test(mediaType) || mediaType === "" || mediaType === "text/plain";
  return isLikely
    ? readText(response, { ...bodyOptions("responseBytes", call, options), secrets })
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
  context: ReadingContext & {
    /** Finds the error in a body. */
    readonly findFailure: (body: unknown) => RemoteFailure | undefined;
    /** Whether it is a `google.rpc.Status`. */
    readonly isStatus?: boolean;
  },
): Promise<ReturnType<typeof errorOf>> {
  const { call, options, secrets, findFailure, isStatus = false } = context;
  const body = await readBeginning(response, bodyOptions("errorBytes", call, options));
  const json = jsonIn(body, options.limits.responseDepth);
  const failure = findFailure(json);
  return errorOf({
    operation,
    ...headOf(response),
    httpStatus: response.status,
    secrets,
    body,
    isStatus,
    ...(failure === undefined ? {} : { failure }),
  });
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

/** The JSON of an error's body; what is no JSON, or too deep to be looked at, leaves it to the status. */
function jsonIn(body: string, maxDepth: number): unknown {
  try {
    const reading = readJson(body, maxDepth);
    return reading.ok ? reading.value : undefined;
  } catch {
    return undefined;
  }
}

function bodyOptions(limit: "responseBytes" | "errorBytes", call: BindingCall, options: BindingOptions) {
  const { clock, limits } = options;
  return { clock, signal: call.signal, idleMs: call.timeouts.idleMs, limit, maxBytes: limits[limit] };
}
