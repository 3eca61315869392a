import * as auth from "../../src/errors/auth.ts";
import type { A2ALeaseError } from "../../src/errors/base.ts";
import * as card from "../../src/errors/card.ts";
import * as credentials from "../../src/errors/credentials.ts";
import * as lease from "../../src/errors/lease.ts";
import * as ledger from "../../src/errors/ledger.ts";
import * as lifecycle from "../../src/errors/lifecycle.ts";
import * as protocol from "../../src/errors/protocol.ts";
import * as sending from "../../src/errors/sending.ts";
import * as stream from "../../src/errors/stream.ts";
import * as transport from "../../src/errors/transport.ts";
import { judgeCard } from "../../src/lease/judge.ts";
import { pinCard } from "../../src/lease/pin.ts";
import type { CardDrift } from "../../src/model/drift.ts";
import { baseCard, endpoint } from "../card/cards.ts";

/** A secret that must show nowhere. */
export const secret = "s3cr3t-v4lue";
const url = `https://user:${secret}@agent.example/rpc?api_key=${secret}#${secret}`;
const text = `it said Authorization: Bearer ${secret} and {"access_token":"${secret}"} at ${url}`;
const long = "x".repeat(10_000);

/** A failure as a platform throws it, with everything that it knows. */
export const platformFailure = Object.assign(new TypeError(text), {
  code: "ECONNRESET",
  options: { headers: { authorization: `Bearer ${secret}` } },
  cause: Object.assign(new Error(`below: ${text}`), { request: { url } }),
});

const pin = pinCard(baseCard());

/** A drift to a card full of secrets. */
export function driftWithSecrets(): CardDrift {
  const verdict = judgeCard(pin, baseCard({ description: text, "x-a": { token: secret } }), {});
  if (verdict.outcome !== "drift") throw new TypeError("outcome: found same, wanted drift");
  return verdict.drift;
}

const task = {
  id: "t1",
  status: { state: "TASK_STATE_WORKING" as const },
  metadata: { token: secret, note: text, list: Array.from({ length: 500 }, () => long) },
};
const observation = {
  taskId: "t1",
  state: "TASK_STATE_WORKING" as const,
  source: "get" as const,
  seenAt: "now",
  isSnapshot: true,
};
const remote = {
  operation: "GetTask" as const,
  remoteMessage: `${text} ${long}`,
  rpcCode: -32000,
  httpStatus: 500,
  reason: "REASON",
  details: [{ secret, note: text }],
  retryAfterMs: 5,
  task,
};
const http = { url, status: 503, contentType: "text/html", body: `${text} ${long}`, retryAfterMs: 5 };

const own: readonly A2ALeaseError[] = [
  new auth.AuthenticationError(url, { challenge: 'Bearer realm="a"', found: text, cause: platformFailure }),
  new auth.AuthorizationError(url, { challenge: 'Bearer realm="a"', found: text }),
  new auth.CredentialOriginError("https://evil.example", ["https://agent.example"]),
  new credentials.CredentialMissingError(
    "https://agent.example",
    { alternatives: [{ schemes: { oauth: { list: [text] } } }], schemes: {} },
    { asked: [text], available: [text] },
  ),
  new credentials.TokenRequestError(url, {
    reason: "refused",
    message: text,
    status: 400,
    oauthError: text,
    cause: platformFailure,
  }),
  new card.CardNotFoundError([
    { url: "https://agent.example/card", status: 404 },
    { url: "https://agent.example/other" },
  ]),
  new card.CardAuthError(url, 401, 'Bearer realm="a"', [{ url: "https://agent.example/card", status: 401 }]),
  new card.CardUnreachableError(url, {
    status: 503,
    retryAfterMs: 5,
    attemptCount: 2,
    cause: platformFailure,
  }),
  new card.CardUnreadableError(url, "html", text, "sha256:0"),
  new card.CardInvalidError(
    url,
    Array.from({ length: 60 }, () => ({ path: "$.a", message: text })),
    "sha256:0",
  ),
  new card.CardSignatureError(url, { result: "untrusted-signer", message: text, signatures: [] }),
  new card.ProtocolVersionError(["0.3"], ["1.0"]),
  new card.NoSupportedInterfaceError(
    [{ url, protocolBinding: "X", problem: "no such binding here" }],
    ["JSONRPC"],
  ),
  new lease.CardDriftError(driftWithSecrets(), {
    taskId: "t1",
    cause: platformFailure,
    renegotiate: async () => ({ client: 1 }),
  }),
  new lease.LeaseUnverifiableError(url, {
    cause: platformFailure,
    checkFailure: platformFailure,
    retryAfterMs: 5,
  }),
  new lease.RequirementUnmetError(
    [{ requirement: "skills", wanted: "s", offered: Array.from({ length: 5_000 }, () => long) }],
    "sha256:0",
  ),
  new lease.CapabilityMissingError("streaming", "SubscribeToTask", "sha256:0"),
  new ledger.LedgerConflictError(`["task","${url}"]`, "found revision 2, wanted 1"),
  new ledger.LedgerUnavailableError("write", platformFailure),
  new lifecycle.LifecycleMismatchError("terminal-is-final", {
    ...{
      message: text,
      observations: [observation],
      card: { digest: "sha256:0", version: "1" },
      cause: platformFailure,
    },
  }),
  new lifecycle.LifecycleNotTrustedError("https://agent.example/rpc JSONRPC", "no probe"),
  new lifecycle.TaskTerminalError("t1", "TASK_STATE_FAILED", platformFailure),
  new lifecycle.TaskForgottenError(task, platformFailure),
  new lifecycle.CancelNotConfirmedError("t1", "TASK_STATE_WORKING", 30_000),
  new sending.SendOutcomeUnknownError({ messageId: "m", contextId: "c", taskId: "t1" }, platformFailure),
  new transport.ConnectionError(url, {
    systemCode: "ECONNRESET",
    neverSent: false,
    message: text,
    cause: platformFailure,
  }),
  new transport.TimeoutError(url, "total", 5),
  new transport.HttpStatusError(http),
  new transport.GatewayError(504, text, 5),
  new transport.MalformedResponseError([{ path: "$", message: text }], `${text} ${long}`),
  new transport.LimitExceededError("eventBytes", 5, "6 bytes"),
  new transport.RedirectRefusedError(url, 307, url),
  new transport.AddressRefusedError(url, text),
  new stream.StreamInterruptedError({
    taskId: "t1",
    lastState: "TASK_STATE_WORKING",
    eventCount: 2,
    cause: platformFailure,
  }),
  new stream.StreamReplacedError("t1", 3),
  new stream.StreamStalledError("idle", 5, "t1"),
];

const remoteClasses = Object.values(protocol).filter((value) => typeof value === "function");

/** One error of each class, given as many secrets and as much text as it takes. */
export const samples: readonly A2ALeaseError[] = [
  ...own,
  ...remoteClasses.map((RemoteClass) => new RemoteClass(remote)),
];

/** Every class that the rooms of errors export. */
export const classes = [
  auth,
  card,
  credentials,
  lease,
  ledger,
  lifecycle,
  protocol,
  sending,
  stream,
  transport,
].flatMap((room) =>
  Object.values(room).filter((value) => typeof value === "function"),
) as readonly (abstract new (
  ...given: never[]
) => A2ALeaseError)[];

/** An interface as it stands on a card. */
export const anInterface = endpoint();
