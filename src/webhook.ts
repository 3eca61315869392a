export type { Deviation } from "./model/deviation.ts";
export type { PushUpdate } from "./model/push-update.ts";
export type { JsonWebKeys, JwtVerification } from "./webhook/jwt-options.ts";
export {
  type NodeListenerOptions,
  type NodeRequest,
  type NodeResponse,
  toNodeListener,
} from "./webhook/node.ts";
export type { WebhookLimits, WebhookOptions } from "./webhook/options.ts";
export { createWebhookReceiver, type WebhookReceiver } from "./webhook/receiver.ts";
