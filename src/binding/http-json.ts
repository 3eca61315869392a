import { MethodNotFoundError } from "../errors/protocol.ts";
import { HttpStatusError } from "../errors/transport.ts";
import { type OperationName, type Operations, operationFacts } from "../model/operations.ts";
import { deepFreeze } from "../util/freeze.ts";
import type { HttpResponse } from "../wire/http.ts";
import { protocolVersion, versionHeader } from "../wire/version.ts";
import {
  eventStreamType,
  headOf,
  isSuccess,
  malformedAnswer,
  readErrorAnswer,
  readJsonAnswer,
} from "./answer.ts";
import type {
  Binding,
  BindingAnswer,
  BindingCall,
  BindingOptions,
  BindingStream,
  StreamingOperation,
} from "./binding.ts";
import { errorOf } from "./errors.ts";
import { type Frame, openFrames } from "./frames.ts";
import { issueText, readHttpJson } from "./http-json-answer.ts";
import { type RouteMethod, routeRequest } from "./http-json-route.ts";
import type { RemoteFailure } from "./remote-failure.ts";
import { findStatus } from "./rpc-status.ts";
import { secretsOf } from "./secrets.ts";
import { createSingleEventStream } from "./single-event.ts";

/** A request whose answer came with a status of success. */
interface Accepted<O extends OperationName> {
  readonly operation: O;
  readonly response: HttpResponse;
  readonly call: BindingCall;
  /** The secrets that went out with it. */
  readonly secrets: readonly string[];
}

const jsonType = "application/a2a+json";
/** What most servers send, whatever the spec would like (11.1, 14.1.1). */
const plainJsonType = "application/json";

/** Interfaces whose method of subscribing is remembered at most. */
const maxRemembered = 100;

/**
 * Makes the HTTP+JSON binding (section 11): each operation has a path of its own below the URL of the interface, a
 * query the URL has is kept, and answers are bare.
 */
export function createHttpJsonBinding(options: BindingOptions): Binding {
  /** Interfaces that want a subscription by GET. */
  const subscribedByGet = new Set<string>();

  async function send<O extends OperationName>(
    operation: O,
    request: Operations[O]["request"],
    call: BindingCall,
    method?: RouteMethod,
  ): Promise<Accepted<O>> {
    const routed = routeRequest(operation, request, call.interface, method);
    const secrets = secretsOf(call, request);
    const json = `${jsonType}, ${plainJsonType}`;
    const response = await options.http({
      ...routed,
      headers: {
        ...call.headers,
        ...(routed.body === undefined ? {} : { "content-type": jsonType }),
        accept: operationFacts[operation].streams ? `${eventStreamType}, ${json}` : json,
        [versionHeader]: protocolVersion,
      },
      ...(call.query === undefined ? {} : { query: call.query }),
      secrets,
      signal: call.signal,
      firstByteMs: call.timeouts.firstByteMs,
    });
    if (!isSuccess(response)) {
      throw await readErrorAnswer(operation, response, {
        call,
        options,
        secrets,
        findFailure: findStatus,
        isStatus: true,
      });
    }
    return { operation, response, call, secrets };
  }

  /** Reads an answer that is one body, to whichever operation. */
  async function readOne<O extends OperationName>(
    accepted: Accepted<O>,
  ): Promise<BindingAnswer<Operations[O]["response"]>> {
    const { operation, response, call, secrets } = accepted;
    const context = { call, options, secrets };
    const answer = await readJsonAnswer(operation, response, context);
    const { value, deviations } = answer;
    const read = readHttpJson(operation, value);
    if (read.kind === "error") throw errorIn(accepted, read.failure);
    const { reading } = read;
    if (!reading.ok) throw malformedAnswer(reading.issues, answer.snippet, secrets);
    return deepFreeze({
      value: reading.value,
      deviations: [...deviations, ...reading.deviations],
      ...(operation === "GetExtendedAgentCard" ? { wire: value } : {}),
    });
  }

  async function openStream(accepted: Accepted<StreamingOperation>): Promise<BindingStream> {
    const { response, call } = accepted;
    if (response.mediaType === eventStreamType) {
      return openFrames(response, {
        call,
        options,
        secrets: accepted.secrets,
        readFrame: (wire) => readFrame(wire, accepted),
        errorOf: (failure) => errorIn(accepted, failure),
      });
    }
    const { value, deviations } = await readOne(accepted);
    const message = `found ${response.mediaType || "no media type"}, wanted ${eventStreamType}`;
    const deviation = { kind: "json-instead-of-stream", message };
    return createSingleEventStream(value, [deviation, ...deviations], call.signal);
  }

  /**
   * Subscribes by POST (11.3.2), and by GET, which the proto says, where the server has no such route for a POST. What
   * it took is remembered. A task that is not found is an answer of the route, and no missing one.
   */
  async function subscribe(request: Operations["SubscribeToTask"]["request"], call: BindingCall) {
    const { url, tenant = "" } = call.interface;
    const key = JSON.stringify([url, tenant]);
    const wantsGet = subscribedByGet.has(key);
    const sendBy = (method: RouteMethod) => send("SubscribeToTask", request, call, method);
    try {
      return await sendBy(wantsGet ? "GET" : "POST");
    } catch (error) {
      if (!isMissingRoute(error)) throw error;
      let accepted: Accepted<"SubscribeToTask">;
      try {
        accepted = await sendBy(wantsGet ? "POST" : "GET");
      } catch (again) {
        // Where neither is there, the first answer says more than that of a method nobody wanted.
        throw isMissingRoute(again) ? error : again;
      }
      if (subscribedByGet.size >= maxRemembered) subscribedByGet.clear();
      if (wantsGet) subscribedByGet.delete(key);
      else subscribedByGet.add(key);
      return accepted;
    }
  }

  return {
    name: "HTTP+JSON",

    async call(operation, request, call) {
      return readOne(await send(operation, request, call));
    },

    async open(operation, request, call) {
      return openStream(
        "id" in request ? await subscribe(request, call) : await send(operation, request, call),
      );
    },
  };
}

/** Whether an answer says that there is nothing at this path for this method, and not that a task is missing. */
function isMissingRoute(error: unknown): boolean {
  if (error instanceof MethodNotFoundError) return true;
  return error instanceof HttpStatusError && [404, 405, 501].includes(error.status);
}

function errorIn({ operation, response, secrets }: Accepted<OperationName>, failure: RemoteFailure) {
  return errorOf({ operation, ...headOf(response), failure, secrets, isStatus: true });
}

/** A frame is the bare event; an error in its place is the error of the call. */
function readFrame(wire: unknown, accepted: Accepted<StreamingOperation>): Frame {
  const read = readHttpJson(accepted.operation, wire);
  if (read.kind === "error") throw errorIn(accepted, read.failure);
  const { reading } = read;
  return reading.ok ? reading : { ok: false, reason: reading.issues.map(issueText).join("; ") };
}
