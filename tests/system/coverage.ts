/** What happened, by kinds, so that a scenario can say what must have happened. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  /** @param kinds what must happen at least once */
  constructor(kinds: readonly string[]) {
    for (const kind of kinds) this.#counts.set(kind, 0);
  }

  count(kind: string, times = 1): void {
    const before = this.#counts.get(kind);
    if (before === undefined) throw new Error(`expected a kind that is known, found ${kind}`);
    this.#counts.set(kind, before + times);
  }

  /** Those that did not happen. */
  missing(): string[] {
    return [...this.#counts].filter(([, count]) => count === 0).map(([kind]) => kind);
  }

  /** How often each happened, a line each. */
  table(): string {
    return [...this.#counts]
      .map(([kind, count]) => `${`${count}`.padStart(8)}  ${kind}`)
      .join("\n");
  }
}
