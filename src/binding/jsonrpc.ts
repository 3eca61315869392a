import { type OperationName, type Operations, operationFacts } from "../model/operations.ts";
import { deepFreeze, isRecord } from "../util/freeze.ts";
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
import type { Binding, BindingAnswer, BindingCall, BindingOptions, StreamingOperation } from "./binding.ts";
import { readResponse, writeBindingRequest } from "./body.ts";
import { readEnvelope } from "./envelope.ts";
import { errorOf } from "./errors.ts";
import { type Frame, openFrames } from "./frames.ts";
import { writeJson } from "./json.ts";
import { type RemoteFailure, readRemoteFailure } from "./remote-failure.ts";
import { secretsOf } from "./secrets.ts";
import { createSingleEventStream } from "./single-event.ts";

/** A request whose answer came with a status of success. */
interface Accepted<O extends OperationName> {
  readonly operation: O;
  readonly id: number;
  readonly response: HttpResponse;
  /** The secrets that went out with it. */
  readonly secrets: readonly string[];
}

const jsonType = "application/json";

/** Makes the JSON-RPC binding (section 9): every operation is the same POST to the URL of the interface. */
export function createJsonRpcBinding(options: BindingOptions): Binding {
  let lastId = 0;

  async function post<O extends OperationName>(
    operation: O,
    request: Operations[O]["request"],
    call: BindingCall,
  ): Promise<Accepted<O>> {
    lastId += 1;
    const id = lastId;
    const params = writeBindingRequest(operation, request, call.interface.tenant);
    const secrets = secretsOf(call, request);
    const response = await options.http({
      url: call.interface.url,
      method: "POST",
      headers: {
        ...call.headers,
        "content-type": jsonType,
        accept: operationFacts[operation].streams ? `${eventStreamType}, ${jsonType}` : jsonType,
        [versionHeader]: protocolVersion,
      },
      ...(call.query === undefined ? {} : { query: call.query }),
      secrets,
      body: writeJson({ jsonrpc: "2.0", id, method: operation, params }),
      signal: call.signal,
      firstByteMs: call.timeouts.firstByteMs,
    });
    if (!isSuccess(response)) {
      throw await readErrorAnswer(operation, response, { call, options, secrets, findFailure });
    }
    return { operation, id, response, secrets };
  }

  /** Reads an answer that is one JSON-RPC response, to whichever operation. */
  async function readOne<O extends OperationName>(
    accepted: Accepted<O>,
    call: BindingCall,
  ): Promise<BindingAnswer<Operations[O]["response"]>> {
    const { operation, id, response, secrets } = accepted;
    const context = { call, options, secrets };
    const answer = await readJsonAnswer(operation, response, context);
    const { value, deviations } = answer;
    // Some servers answer a deletion with no body at all.
    const envelope = readEnvelope(value === undefined ? { id, jsonrpc: "2.0" } : value, id);
    if (envelope.kind === "error") throw errorIn(accepted, envelope.failure);
    if (envelope.kind === "none") throw malformedAnswer([envelope.issue], answer.snippet, secrets);
    const reading = readResponse(operation, envelope.result, "$.result");
    if (!reading.ok) throw malformedAnswer(reading.issues, answer.snippet, secrets);
    return deepFreeze({
      value: reading.value,
      deviations: [...deviations, ...envelope.deviations, ...reading.deviations],
      ...(operation === "GetExtendedAgentCard" ? { wire: envelope.result } : {}),
    });
  }

  return {
    name: "JSONRPC",

    async call(operation, request, call) {
      return readOne(await post(operation, request, call), call);
    },

    async open(operation, request, call) {
      const accepted = await post(operation, request, call);
      const { response } = accepted;
      if (response.mediaType === eventStreamType) {
        return openFrames(response, {
          call,
          options,
          secrets: accepted.secrets,
          readFrame: (wire) => readFrame(wire, accepted),
          errorOf: (failure) => errorIn(accepted, failure),
        });
      }
      const { value, deviations } = await readOne(accepted, call);
      const message = `found ${response.mediaType || "no media type"}, wanted ${eventStreamType}`;
      const deviation = { kind: "json-instead-of-stream", message };
      return createSingleEventStream(value, [deviation, ...deviations], call.signal);
    },
  };
}

/** The error object of a body; a text in its place is a framework's and says nothing of A2A. */
function findFailure(body: unknown): RemoteFailure | undefined {
  return isRecord(body) && isRecord(body.error) ? readRemoteFailure(body.error) : undefined;
}

function errorIn({ operation, response, secrets }: Accepted<OperationName>, failure: RemoteFailure) {
  return errorOf({ operation, ...headOf(response), failure, secrets });
}

/** A frame is a JSON-RPC response to the request that opened the stream; an error in it is the error of the call. */
function readFrame(wire: unknown, accepted: Accepted<StreamingOperation>): Frame {
  const { operation, id } = accepted;
  const envelope = readEnvelope(wire, id);
  if (envelope.kind === "error") throw errorIn(accepted, envelope.failure);
  if (envelope.kind === "none") return { ok: false, reason: textOf(envelope.issue) };
  const reading = readResponse(operation, envelope.result, "$.result");
  if (!reading.ok) return { ok: false, reason: reading.issues.map(textOf).join("; ") };
  return { ok: true, value: reading.value, deviations: [...envelope.deviations, ...reading.deviations] };
}

function textOf({ path, message }: { readonly path: string; readonly message: string }): string {
  return `${path}: ${message}`;
}
