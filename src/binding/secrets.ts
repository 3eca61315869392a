import type { TaskPushNotificationConfig } from "../model/push.ts";
import type { SendMessageConfiguration } from "../model/requests.ts";
import { secretParameters, secretsIn } from "../util/strike.ts";
import type { BindingCall } from "./binding.ts";

/**
 * The secrets that a call sends, as the texts that no error about its answer may hold: its headers, its query, what the
 * URL of the interface holds, those of a push configuration in its body, and those of earlier calls.
 */
export function secretsOf(
  { headers, query, interface: { url }, secrets = [] }: BindingCall,
  request: object,
): readonly string[] {
  return Object.freeze([
    ...new Set([
      ...secretsIn(headers, { ...secretParameters(url), ...query }),
      ...secretsIn(pushSecretsOf(request)),
      ...secrets,
    ]),
  ]);
}

/**
 * The secrets of a push configuration in the body of a request, by names that speak of a secret, so that their parts
 * are struck as well.
 */
export function pushSecretsOf(request: object): Readonly<Record<string, string>> {
  const { configuration }: { readonly configuration?: SendMessageConfiguration } = request;
  const config: Partial<TaskPushNotificationConfig> = configuration?.taskPushNotificationConfig ?? request;
  const { token = "", authentication: { credentials = "" } = {} } = config;
  return { "push-token": token, "push-credential": credentials };
}
