import type { Binding, BindingFactory, BindingOptions } from "../binding/binding.ts";
import { guardBinding } from "../binding/guard.ts";
import { createHttpJsonBinding } from "../binding/http-json.ts";
import { createJsonRpcBinding } from "../binding/jsonrpc.ts";
import { NoSupportedInterfaceError } from "../errors/card.ts";
import type { AgentInterface } from "../model/card.ts";
import { isRecord } from "../util/freeze.ts";

/** The bindings of a client, and the order in which it wants them. */
export interface Bindings {
  /** Their names on a card. */
  readonly names: readonly string[];
  /** Names that go before the order of the card. */
  readonly preferred: readonly string[];
  /**
   * The binding of an interface.
   *
   * @throws NoSupportedInterfaceError where there is none: a pin from elsewhere may name any.
   */
  of(target: AgentInterface): Binding;
}

/** What a caller says of bindings. */
export interface BindingChoice {
  /** Bindings of the caller's own, beside the built-in ones or in the place of one of the same name. */
  readonly bindings: readonly (Binding | BindingFactory)[];
  /** Names in order of preference. */
  readonly preferredBindings: readonly string[];
}

/**
 * Makes the bindings of a client: the built-in ones and the caller's own.
 *
 * @throws TypeError naming the option.
 */
export function createBindings(options: BindingOptions, choice: BindingChoice): Bindings {
  const builtIn = [createJsonRpcBinding(options), createHttpJsonBinding(options)];
  const own = choice.bindings.map((given, index) => {
    const made: unknown = typeof given === "function" ? given(options) : given;
    if (isBinding(made)) return guardBinding(made);
    throw new TypeError(
      `bindings[${index}]: found no binding, wanted { name, call, open } or what makes one`,
    );
  });
  const byName = new Map([...builtIn, ...own].map((binding) => [binding.name, binding]));
  const names = Object.freeze([...byName.keys()]);
  const { preferredBindings } = choice;
  const unknown = preferredBindings.find((name) => !byName.has(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `preferredBindings: found ${JSON.stringify(unknown)}, wanted names of ${names.join(", ")}; ` +
        "a binding that is not built in is handed in as bindings",
    );
  }
  return Object.freeze({
    names,
    preferred: Object.freeze([...preferredBindings]),
    of(target: AgentInterface) {
      const binding = byName.get(target.protocolBinding);
      if (binding) return binding;
      throw new NoSupportedInterfaceError([{ ...target, problem: "this client has no such binding" }], names);
    },
  });
}

function isBinding(value: unknown): value is Binding {
  if (!isRecord(value)) return false;
  const { name, call, open } = value;
  return typeof name === "string" && name !== "" && typeof call === "function" && typeof open === "function";
}
