import type { CardRequirements } from "../../../../src/model/requirements.ts";
import { type Edit, edit, extension, rpc } from "../cards.ts";
import type { Row } from "../row.ts";

/** One thing that goes wrong with a card, and what a function that says repin makes of it alone. */
interface Fault {
  readonly result: Exclude<Row["result"], "same">;
  readonly now?: readonly Edit[];
  readonly needs?: CardRequirements;
  readonly rolledBack?: boolean;
  readonly keys?: NonNullable<Row["keys"]>;
  readonly breaks?: NonNullable<Row["breaks"]>;
  readonly changes?: NonNullable<Row["changes"]>;
}

const signer: Fault = {
  result: "fail signer-changed",
  keys: { pinned: "alpha", live: ["beta"] },
  changes: ["signer-changed security /signatures"],
};

const signature: Fault = {
  result: "fail signature-removed",
  now: [edit.unsigned],
  keys: { pinned: "alpha", live: [] },
  changes: ["signature-removed security /signatures"],
};

const older: Fault = {
  result: "fail rolled-back",
  now: [edit.card({ version: "2.0.0" })],
  rolledBack: true,
  changes: ["version-changed cosmetic /version"],
};

const moved: Fault = {
  result: "fail interface-moved",
  now: [edit.interfaces(rpc({ url: "https://other.example/rpc" }))],
  changes: ["interface-moved security /supportedInterfaces/0"],
};

const security: Fault = {
  result: "fail security-changed",
  now: [edit.schemes({ key: undefined })],
  changes: ["security-changed security /securitySchemes/key"],
};

const protocol: Fault = {
  result: "fail protocol-version-changed",
  now: [edit.interfaces(rpc({ protocolVersion: "2.0" }))],
  changes: ["version-changed breaking /supportedInterfaces/0/protocolVersion"],
};

/** What breaks the plan, and is a function's to judge. */
const broken: readonly Fault[] = [
  {
    result: "repin skill-withdrawn",
    now: [edit.skill("translate").gone],
    needs: { skills: ["translate"] },
    breaks: ["skills:translate"],
    changes: ["skill-removed breaking /skills/1"],
  },
  {
    result: "repin streaming-disabled",
    now: [edit.can({ streaming: false })],
    needs: { streaming: true },
    breaks: ["streaming:true"],
    changes: ["capability-lost breaking /capabilities/streaming"],
  },
  {
    result: "repin push-disabled",
    now: [edit.can({ pushNotifications: false })],
    needs: { pushNotifications: true },
    breaks: ["pushNotifications:true"],
    changes: ["capability-lost breaking /capabilities/pushNotifications"],
  },
  {
    result: "repin mode-withdrawn",
    now: [edit.takes("text/plain")],
    needs: { inputModes: ["application/pdf"] },
    breaks: ["inputModes:application/pdf"],
    changes: ["mode-removed breaking /defaultInputModes/1"],
  },
  {
    result: "repin extension-required",
    now: [edit.extensions(extension("billing", { required: true }))],
    breaks: ["requiredExtension:https://ext.example/billing"],
    changes: ["extension-required breaking /capabilities/extensions/0"],
  },
];

/** Cards on which much goes wrong at once, worst first. An interface either moves or speaks another version. */
const cards: readonly (readonly Fault[])[] = [
  [signer, older, moved, security, ...broken],
  [signer, older, security, protocol, ...broken],
  [signature, older, moved, security, ...broken],
  [signature, older, security, protocol, ...broken],
  [older, moved, security, ...broken],
  [older, security, protocol, ...broken],
  [moved, security, ...broken],
  [security, protocol, ...broken],
  [protocol, ...broken],
  ...broken.map((_, index) => broken.slice(index)),
];

/** The order in which a card's members are compared, what became of the signer before all. */
const members = [
  "signatures",
  "supportedInterfaces",
  "capabilities",
  "defaultInputModes",
  "skills",
  "securitySchemes",
  "version",
];

/** The first of many reasons is the one that is named. */
export const precedenceRows: readonly Row[] = cards.map(createRow);

function createRow(faults: readonly Fault[]): Row {
  const [first, ...others] = faults.map(({ result }) => result);
  const keys = faults.find((fault) => fault.keys)?.keys;
  const name = (result = "") => result.split(" ")[1];
  return {
    says: `${name(first)} is named before ${[...others.map(name), "content-changed"].join(", ")}`,
    ...(keys && { was: [edit.signed], keys }),
    now: faults.flatMap(({ now = [] }) => now),
    needs: Object.assign({}, ...faults.map(({ needs }) => needs)),
    under: "says repin",
    rolledBack: faults.some(({ rolledBack }) => rolledBack),
    result: first ?? "same",
    breaks: faults.flatMap(({ breaks = [] }) => breaks),
    changes: inCardOrder(faults.flatMap(({ changes = [] }) => changes)),
  };
}

function inCardOrder(changes: NonNullable<Row["changes"]>): NonNullable<Row["changes"]> {
  const place = (item: string) => members.indexOf(item.split("/")[1] ?? "");
  return [...changes].sort((a, b) => place(a) - place(b));
}
