/** The WebAssembly module behind the package, whose one instance the package's entry makes. */
import "hedgerow";
import { memory } from "../../dist/module.js";
import { type CompiledHeaders, HeaderRules } from "../../wasm/edge.js";

const encoder = new TextEncoder();

/** The size of the module's memory, in bytes. */
export function memorySize(): number {
  return memory().length;
}

/** A compiled set that is asked for every name: nothing is probed or remembered before. */
export class UnprobedSet {
  readonly #compiled: CompiledHeaders;
  readonly #start: number;
  readonly #length: number;

  constructor(rules: readonly string[]) {
    const collected = new HeaderRules();
    for (const rule of rules) collected.add(rule);
    this.#compiled = collected.compile();
    [this.#start, this.#length] = this.#compiled.layout() as unknown as [number, number];
  }

  /** @param name an ASCII name, so that one that does not fit is cut off one byte after any rule */
  matches(name: string): boolean {
    const scratch = memory().subarray(this.#start, this.#start + this.#length);
    return this.#compiled.matches(encoder.encodeInto(name, scratch).written);
  }

  free(): void {
    this.#compiled.free();
  }
}
