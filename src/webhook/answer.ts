/** What a webhook answers with. */
export interface WebhookAnswer {
  readonly status: number;
  /** What the sender may know, as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Carries the answer of a notification that is not taken to where it is given. */
export class Refused {
  constructor(
    readonly answer: WebhookAnswer,
    /** What `onError` hears of it. */
    readonly cause?: unknown,
  ) {}
}

/** How long a sender is asked to wait before it tries again, in seconds. */
const busySeconds = "1";
const unavailableSeconds = "5";

const answered = (status: number, error: string, headers: Readonly<Record<string, string>> = {}) =>
  Object.freeze({ status, body: Object.freeze({ error }), headers: Object.freeze(headers) });

/** The answers to what is not taken. None of them tells a stranger anything but the status. */
export const refusals = Object.freeze({
  method: answered(405, "wanted POST", { allow: "POST" }),
  mediaType: answered(415, "wanted application/a2a+json or application/json"),
  // RFC 9110, 12.5.3: a compressed body could be larger than it looks.
  coding: answered(415, "wanted a body without a content coding", { "accept-encoding": "identity" }),
  // One answer for every way to be wrong, so that nothing can be learned by trying.
  unauthorized: answered(401, "unauthorized", { "www-authenticate": "Bearer" }),
  tooLarge: answered(413, "the body is too large"),
  tooSlow: answered(408, "the body took too long", { connection: "close" }),
  gone: answered(400, "the body broke off"),
  notJson: answered(400, "wanted a body of JSON"),
  busy: answered(429, "too many notifications at once", { "retry-after": busySeconds }),
  unknownTask: answered(404, "unknown task"),
  unavailable: answered(503, "not stored, try again", { "retry-after": unavailableSeconds }),
});

/** Makes the response. */
export function responseOf({ status, body, headers }: WebhookAnswer): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}
