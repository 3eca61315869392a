import ts from "typescript";
import { at, nodesOf, readSources, type Sources, sourceFiles } from "../../architecture/sources.ts";
import { allImpacts, allReasons } from "./coverage.ts";

/** The library with one thing wrong. */
export interface Mutant {
  /** What is wrong with it. */
  readonly says: string;
  /** Path of the one file that differs, from the project's root. */
  readonly path: string;
  /** Text of that file. */
  readonly text: string;
}

/** Sources of the rooms that judge: a mutant has its own copy of each. */
export const sources: Sources = readSources("src/card", "src/lease");

const files = sourceFiles(sources);

/** One reason with what makes it apply, as the source has them. */
interface Precedence {
  readonly reason: string;
  readonly applies: string;
}

const list = reasonList();

/** The reasons in the order of the source. What is left when none applies is the last of them. */
export const precedence: readonly Precedence[] = [
  ...list.elements.map((element) => {
    const [reason, applies] = ts.isArrayLiteralExpression(element) ? element.elements : [];
    if (!reason || !applies || !ts.isStringLiteral(reason)) return { reason: "", applies: element.getText() };
    return { reason: reason.text, applies: applies.getText() };
  }),
  { reason: "content-changed", applies: "() => true" },
];

/** Two reasons that change places in the order of precedence. */
export function swapReasons(first: number, second: number): Mutant {
  const swapped = precedence.map((item, index) => {
    const other = index === first ? second : index === second ? first : index;
    return precedence[other] ?? item;
  });
  return withReasons(`${nameOf(first)} and ${nameOf(second)} change places`, swapped);
}

/** A reason that gives way to one later one, and to no other: nothing else of the order changes. */
export function giveWay(first: number, second: number): Mutant {
  const later = precedence[second]?.applies ?? "";
  const changed = precedence.map((item, index) =>
    index === first
      ? { ...item, applies: `(found) => (${item.applies})(found) && !(${later})(found)` }
      : item,
  );
  return withReasons(`${nameOf(first)} gives way to ${nameOf(second)}`, changed);
}

function nameOf(index: number): string {
  return precedence[index]?.reason ?? "";
}

function withReasons(says: string, reasons: readonly Precedence[]): Mutant {
  const entries = reasons.map(({ reason, applies }) => `[${JSON.stringify(reason)}, ${applies}]`);
  return replaced(says, list, `[${entries.join(", ")}]`);
}

/** Each place where the judgement names an impact, with each of the other impacts in its stead. */
export const impactMutants: readonly Mutant[] = files.flatMap((file) =>
  nodesOf(file)
    .filter(ts.isStringLiteral)
    .filter((node) => allImpacts.includes(node.text) && !ts.isLiteralTypeNode(node.parent))
    .flatMap((node) =>
      allImpacts
        .filter((impact) => impact !== node.text)
        .map((impact) =>
          replaced(`${at(node)} says ${impact} in place of ${node.text}`, node, JSON.stringify(impact)),
        ),
    ),
);

/** Each reason that no posture accepts, taken off that list. */
export const acceptedMutants: readonly (Mutant & { readonly reason: string })[] = unacceptableList()
  .elements.filter(ts.isStringLiteral)
  .map((node, _index, nodes) => {
    const others = nodes.filter((other) => other !== node).map((other) => other.getText());
    const mutant = replaced(`${node.text} is accepted`, node.parent, `[${others.join(", ")}]`);
    return { ...mutant, reason: node.text };
  });

function reasonList(): ts.ArrayLiteralExpression {
  return arrayWhere("src/lease/drift.ts", (array) =>
    array.elements.some(
      (element) =>
        ts.isArrayLiteralExpression(element) &&
        element.elements[0] !== undefined &&
        isReason(element.elements[0]),
    ),
  );
}

function unacceptableList(): ts.ArrayLiteralExpression {
  return arrayWhere("src/lease/posture.ts", (array) => array.elements.some(isReason));
}

function isReason(node: ts.Node): boolean {
  return ts.isStringLiteral(node) && allReasons.some((reason) => reason === node.text);
}

function arrayWhere(
  path: string,
  isMeant: (array: ts.ArrayLiteralExpression) => boolean,
): ts.ArrayLiteralExpression {
  const file = files.find(({ fileName }) => fileName === path);
  const found = file && nodesOf(file).filter(ts.isArrayLiteralExpression).find(isMeant);
  if (!found) throw new TypeError(`${path} has no such list`);
  return found;
}

function replaced(says: string, node: ts.Node, by: string): Mutant {
  const { fileName: path, text } = node.getSourceFile();
  return { says, path, text: text.slice(0, node.getStart()) + by + text.slice(node.getEnd()) };
}
