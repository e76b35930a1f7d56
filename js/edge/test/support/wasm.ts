/** The WebAssembly instance of the package, which its entry creates. */
import { CompiledRules, memory } from "./bundle.js";

/** Returns the size of the module's memory, in bytes. */
export function memorySize(): number {
  return memory().length;
}

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
