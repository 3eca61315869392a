import type { AgentCard, AgentInterface } from "../model/card.ts";
import type { CardChange } from "../model/drift.ts";
import { groupBy } from "../util/group.ts";
import { canonicalJson } from "../util/json.ts";
import { change } from "./change.ts";
import { interfaceStructure } from "./structure.ts";

interface Entry {
  readonly entry: AgentInterface;
  readonly index: number;
  readonly key: string;
}

/** Interfaces that moved, changed version, came or went. Their order counts, since the first that fits is called. */
export function diffInterfaces(before: AgentCard, after: AgentCard): CardChange[] {
  const a = before.supportedInterfaces.map(entryOf);
  const b = after.supportedInterfaces.map(entryOf);
  const oldKeys = new Set(a.map((item) => item.key));
  const newKeys = new Set(b.map((item) => item.key));
  const fresh = new Set(b.filter((item) => !oldKeys.has(item.key)));
  const lastKept = b.reduce((last, item) => (fresh.has(item) ? last : item.index), -1);
  const takeTwin = twins([...fresh]);
  const changes: CardChange[] = [];
  for (const old of a.filter((item) => !newKeys.has(item.key))) {
    const twin = takeTwin(old);
    if (twin) {
      fresh.delete(twin);
      changes.push(changeOf(old, twin));
    } else {
      changes.push(
        change(["supportedInterfaces", old.index], "interface-removed", "breaking", { before: old.entry }),
      );
    }
  }
  for (const added of fresh) {
    // An entry that comes before one that was there already may be preferred from now on.
    const isPreferred = added.index < lastKept;
    const kind = isPreferred ? "interface-moved" : "capability-gained";
    const impact = isPreferred ? "security" : "additive";
    changes.push(change(["supportedInterfaces", added.index], kind, impact, { after: added.entry }));
  }
  const kept = diffOrder(
    a.filter((item) => newKeys.has(item.key)),
    b.filter((item) => oldKeys.has(item.key)),
  );
  return [...kept, ...changes];
}

/** What became of the entries that both cards have: another order, or fewer or more of the same. */
function diffOrder(a: readonly Entry[], b: readonly Entry[]): CardChange[] {
  const first = b.findIndex((item, position) => position < a.length && a[position]?.key !== item.key);
  const was = a[first];
  const is = b[first];
  if (was && is) {
    const values = { before: was.entry, after: is.entry };
    return [change(["supportedInterfaces", is.index], "interface-moved", "security", values)];
  }
  return [
    ...a
      .slice(b.length)
      .map(({ index, entry }) =>
        change(["supportedInterfaces", index], "interface-removed", "breaking", { before: entry }),
      ),
    ...b
      .slice(a.length)
      .map(({ index, entry }) =>
        change(["supportedInterfaces", index], "capability-gained", "additive", { after: entry }),
      ),
  ];
}

function changeOf(old: Entry, twin: Entry): CardChange {
  const { url, protocolBinding, tenant = "" } = old.entry;
  const other = twin.entry;
  const onlyVersion =
    url === other.url && protocolBinding === other.protocolBinding && tenant === (other.tenant ?? "");
  if (!onlyVersion) {
    return change(["supportedInterfaces", twin.index], "interface-moved", "security", {
      before: old.entry,
      after: other,
    });
  }
  return change(["supportedInterfaces", twin.index, "protocolVersion"], "version-changed", "breaking", {
    before: old.entry.protocolVersion,
    after: other.protocolVersion,
  });
}

/** Finds the new entry that an old one most likely became: of the same URL, else of the same binding, each once. */
function twins(candidates: readonly Entry[]): (old: Entry) => Entry | undefined {
  const latestFirst = [...candidates].reverse();
  const byUrl = groupBy(latestFirst, (item) => item.entry.url);
  const byBinding = groupBy(latestFirst, (item) => item.entry.protocolBinding);
  const taken = new Set<Entry>();
  const next = (queue: Entry[] | undefined) => {
    // Taken from the end: long lists are slow to shorten from the front.
    while (queue && queue.length > 0) {
      const item = queue.pop();
      if (item && !taken.has(item)) return item;
    }
    return undefined;
  };
  return (old) => {
    const twin = next(byUrl.get(old.entry.url)) ?? next(byBinding.get(old.entry.protocolBinding));
    if (twin) taken.add(twin);
    return twin;
  };
}

function entryOf(entry: AgentInterface, index: number): Entry {
  return { entry, index, key: canonicalJson(interfaceStructure(entry)) };
}
