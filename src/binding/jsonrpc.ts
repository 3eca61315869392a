import { MalformedResponseError } from "../errors/transport.ts";
import { type OperationName, type Operations, operationFacts } from "../model/operations.ts";
import { deepFreeze } from "../util/freeze.ts";
import type { HttpResponse } from "../wire/http.ts";
import { protocolVersion, versionHeader } from "../wire/version.ts";
import { eventStreamType, headOf, isSuccess, readErrorAnswer, readJsonAnswer } from "./answer.ts";
import type { Binding, BindingAnswer, BindingCall, BindingOptions } from "./binding.ts";
import { readResponse, writeRequest } from "./body.ts";
import { readEnvelope } from "./envelope.ts";
import { errorOf } from "./errors.ts";
import { openJsonRpcStream } from "./jsonrpc-stream.ts";
import { streamOf } from "./single-event.ts";

const jsonType = "application/json";

/** A request that was accepted, and the head of its answer. */
interface Accepted {
  readonly id: number;
  readonly response: HttpResponse;
}

/** Makes the JSON-RPC binding (section 9): every operation is the same POST to the URL of the interface. */
export function createJsonRpcBinding(options: BindingOptions): Binding {
  let lastId = 0;

  async function post<O extends OperationName>(
    operation: O,
    request: Operations[O]["request"],
    call: BindingCall,
  ): Promise<Accepted> {
    lastId += 1;
    const id = lastId;
    const params = writeRequest(operation, request, call.interface.tenant);
    const response = await options.http({
      url: call.interface.url,
      method: "POST",
      headers: {
        ...call.headers,
        "content-type": jsonType,
        accept: operationFacts[operation].streams ? `${eventStreamType}, ${jsonType}` : jsonType,
        [versionHeader]: protocolVersion,
      },
      body: writeJson({ jsonrpc: "2.0", id, method: operation, params }),
      signal: call.signal,
      firstByteMs: call.timeouts.firstByteMs,
    });
    if (!isSuccess(response)) throw await readErrorAnswer(operation, response, { call, options });
    return { id, response };
  }

  /** Reads an answer that is one JSON-RPC response, to whichever operation. */
  async function readOne<O extends OperationName>(
    operation: O,
    { id, response }: Accepted,
    call: BindingCall,
  ): Promise<BindingAnswer<Operations[O]["response"]>> {
    const { value, snippet, deviations } = await readJsonAnswer(response, call, options);
    const envelope = readEnvelope(value, id);
    if (envelope.kind === "error") {
      throw errorOf({ operation, ...headOf(response), failure: envelope.failure });
    }
    if (envelope.kind === "none") throw new MalformedResponseError([envelope.issue], snippet);
    const reading = readResponse(operation, envelope.result, "$.result");
    if (!reading.ok) throw new MalformedResponseError(reading.issues, snippet);
    return deepFreeze({
      value: reading.value,
      deviations: [...deviations, ...envelope.deviations, ...reading.deviations],
      ...(operation === "GetExtendedAgentCard" ? { wire: envelope.result } : {}),
    });
  }

  return {
    name: "JSONRPC",

    async call(operation, request, call) {
      return readOne(operation, await post(operation, request, call), call);
    },

    async open(operation, request, call) {
      const accepted = await post(operation, request, call);
      const { id, response } = accepted;
      if (response.mediaType === eventStreamType) {
        return openJsonRpcStream({ operation, id, response, call, options });
      }
      const { value, deviations } = await readOne(operation, accepted, call);
      const message = `found ${response.mediaType || "no media type"}, wanted ${eventStreamType}`;
      return streamOf(value, [{ kind: "json-instead-of-stream", message }, ...deviations], call.signal);
    },
  };
}

function writeJson(request: object): string {
  try {
    return JSON.stringify(request);
  } catch {
    // The engine's own words name members of the caller's values.
    throw new TypeError("the request has a value that JSON can't hold: a cycle or a bigint");
  }
}
