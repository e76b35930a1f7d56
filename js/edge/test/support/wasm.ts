/** The WebAssembly module behind the package, whose one instance the package's entry makes. */
import { CompiledRules, memory } from "./bundle.js";

/** The size of the module's memory, in bytes. */
export function memorySize(): number {
  return memory().length;
}

/** A compiled set that is asked for every name: nothing is probed or remembered before. */
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
