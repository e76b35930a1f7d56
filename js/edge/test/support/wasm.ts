/** The WebAssembly instances of the package. */
import { CompiledRules } from "./bundle.js";

export { memoryBytes as memorySize } from "../../../../tests/support/memories.js";

/** A compiled set that looks up every name, without the probe and the match cache. */
export class UnprobedSet {
  readonly #rules: InstanceType<typeof CompiledRules>;

  constructor(rules: readonly string[]) {
    this.#rules = new CompiledRules(rules);
  }

  matches(name: string): boolean {
    return this.#rules.matches(this.#rules.write(name).length);
  }

  free(): void {
    this.#rules.free();
  }
}
