import { calleeOf } from "../ledger/callee.ts";
import { changeRecord } from "../ledger/change.ts";
import { emptyInbox } from "../ledger/inbox.ts";
import { inboxKey, pushKey } from "../ledger/ledger.ts";
import type { CardPin } from "../model/pin.ts";
import type { InboxRecord } from "../model/push-record.ts";
import { isoTime } from "../util/clock.ts";
import { defined } from "../util/freeze.ts";
import { redactUrl } from "../util/redact.ts";
import type { PreparedPush } from "./push-input.ts";
import type { Session } from "./session.ts";

/** Push configurations of one task that are remembered. */
const maxConfigs = 100;

/** What the ledger knows of one push configuration, so that a webhook finds the task by its secret. */
export interface PushNote {
  /**
   * Writes it down, before the configuration leaves.
   *
   * @throws TypeError for a secret that another configuration has; the ledger errors.
   */
  open(): Promise<void>;
  /** Says which task it is for, once the agent has said so. Never fails: a webhook finds the task without it too. */
  adopt(taskId: string): Promise<void>;
  /** Forgets the secrets that an earlier registration of the same id had, once the agent took this one; never fails. */
  replace(): Promise<void>;
  /** Forgets what it wrote, and nothing of an earlier registration, which may well be in force; never fails. */
  drop(): Promise<void>;
  /** Forgets it, whoever wrote it; never fails. */
  forget(): Promise<void>;
}

/** Makes the note of a configuration for a task, or for the task that a message will start. */
export function createPushNote(
  session: Session,
  { config, secrets }: PreparedPush,
  { pin, ...place }: { readonly pin: CardPin; readonly taskId?: string; readonly messageId?: string },
): PushNote {
  const { ledger, clock, cardKey, options } = session;
  const { principal } = options;
  const fingerprints = Object.freeze(secrets.map(({ fingerprint }) => fingerprint));
  const at = (taskId: string) => ({ session, taskId });
  const written = new Set<string>();
  let earlier: readonly string[] = [];
  let { taskId } = place;

  async function open(): Promise<void> {
    try {
      await writeDown();
    } catch (error) {
      await drop();
      throw error;
    }
  }

  async function writeDown(): Promise<void> {
    for (const { fingerprint, via } of secrets) {
      await changeRecord(ledger, { key: pushKey(fingerprint), kind: "push" }, (known) => {
        if (known) written.delete(fingerprint);
        else written.add(fingerprint);
        const isResent = known?.messageId !== undefined && known.messageId === place.messageId;
        const isOurs =
          !known ||
          isResent ||
          (known.configId === config.id && known.cardUrl === cardKey && known.taskId === place.taskId);
        if (!isOurs) {
          throw new TypeError(
            "token: another push configuration has the same secret, wanted one of its own (13.2)",
          );
        }
        return Object.freeze({
          kind: "push",
          schema: 1,
          cardUrl: cardKey,
          principal,
          callee: calleeOf(pin),
          protocolVersion: pin.protocolVersion,
          configId: config.id,
          url: redactUrl(config.url),
          fingerprint,
          via,
          ...defined(place),
          updatedAt: isoTime(clock.now()),
        });
      });
    }
    // Until the agent has taken it, an earlier registration goes on under its own secrets.
    if (taskId !== undefined) earlier = await addConfig(at(taskId), { id: config.id, fingerprints });
  }

  async function adopt(known: string): Promise<void> {
    taskId = known;
    try {
      for (const fingerprint of fingerprints) {
        await changeRecord(ledger, { key: pushKey(fingerprint), kind: "push" }, (record) => {
          if (!record) return undefined;
          const { isParked: _word, ...rest } = record;
          return Object.freeze({ ...rest, taskId: known, updatedAt: isoTime(clock.now()) });
        });
      }
      await addConfig(at(known), { id: config.id, fingerprints });
    } catch {
      // The notifications themselves name the task, and the intent says that there is one.
    }
  }

  async function replace(): Promise<void> {
    await strike(earlier).catch(() => {});
  }

  async function drop(): Promise<void> {
    await strike([...written]).catch(() => {});
  }

  /** Forgets some secrets, and the configuration where it had no other ones. */
  async function strike(gone: readonly string[]): Promise<void> {
    await Promise.allSettled(gone.map((fingerprint) => ledger.remove(pushKey(fingerprint))));
    if (taskId !== undefined && gone.length > 0) await strikeSecrets(at(taskId), config.id, gone);
  }

  async function forget(): Promise<void> {
    await Promise.allSettled(fingerprints.map((fingerprint) => ledger.remove(pushKey(fingerprint))));
    if (taskId !== undefined) await forgetConfig(at(taskId), config.id).catch(() => {});
  }

  return { open, adopt, replace, drop, forget };
}

/** A task of a session. */
interface TaskPlace {
  readonly session: Session;
  readonly taskId: string;
}

/** Forgets a configuration of a task, and what its secrets led to. Throws the ledger errors. */
export async function forgetConfig({ session, taskId }: TaskPlace, configId: string): Promise<void> {
  const { ledger, cardKey, options } = session;
  const key = inboxKey(cardKey, options.principal, taskId);
  let forgotten: readonly string[] = [];
  await changeRecord(ledger, { key, kind: "inbox" }, (known) => {
    const config = known?.configs.find(({ id }) => id === configId);
    forgotten = config?.fingerprints ?? [];
    if (!known || !config) return undefined;
    return Object.freeze({
      ...known,
      configs: Object.freeze(known.configs.filter((item) => item !== config)),
    });
  });
  for (const fingerprint of forgotten) await ledger.remove(pushKey(fingerprint));
}

async function strikeSecrets(
  { session, taskId }: TaskPlace,
  configId: string,
  gone: readonly string[],
): Promise<void> {
  const { ledger, cardKey, options } = session;
  const key = inboxKey(cardKey, options.principal, taskId);
  await changeRecord(ledger, { key, kind: "inbox" }, (known) => {
    if (!known?.configs.some(({ id }) => id === configId)) return undefined;
    const configs = known.configs.flatMap((config) => {
      if (config.id !== configId) return [config];
      const fingerprints = Object.freeze(config.fingerprints.filter((item) => !gone.includes(item)));
      return fingerprints.length === 0 ? [] : [Object.freeze({ ...config, fingerprints })];
    });
    return Object.freeze({ ...known, configs: Object.freeze(configs) });
  });
}

/** Adds a configuration, and says which secrets it has from before. Throws the ledger errors. */
async function addConfig(
  { session, taskId }: TaskPlace,
  config: InboxRecord["configs"][number],
): Promise<readonly string[]> {
  const { ledger, clock, cardKey, options } = session;
  const { principal } = options;
  const key = inboxKey(cardKey, principal, taskId);
  let earlier: readonly string[] = [];
  let crowdedOut: readonly string[] = [];
  await changeRecord(ledger, { key, kind: "inbox" }, (known) => {
    const before = known?.configs ?? [];
    const same = before.find(({ id }) => id === config.id)?.fingerprints ?? [];
    earlier = same.filter((item) => !config.fingerprints.includes(item));
    const added = Object.freeze({
      ...config,
      fingerprints: Object.freeze([...earlier, ...config.fingerprints]),
    });
    const all = [...before.filter(({ id }) => id !== config.id), added];
    crowdedOut = all.slice(0, -maxConfigs).flatMap(({ fingerprints }) => fingerprints);
    const updatedAt = isoTime(clock.now());
    const record = known ?? emptyInbox(cardKey, principal, taskId);
    return Object.freeze({ ...record, configs: Object.freeze(all.slice(-maxConfigs)), updatedAt });
  });
  // The secrets of a configuration that gave way lead nowhere any more.
  for (const fingerprint of crowdedOut) await ledger.remove(pushKey(fingerprint));
  return earlier;
}
