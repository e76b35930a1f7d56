/** Counts the events of a scenario by kind, to check that every kind occurred. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  /** @param kinds the kinds that have to occur at least once */
  constructor(kinds: readonly string[]) {
    for (const kind of kinds) this.#counts.set(kind, 0);
  }

  count(kind: string, times = 1): void {
    const before = this.#counts.get(kind);
    if (before === undefined) throw new Error(`expected a known kind of event, found ${kind}`);
    this.#counts.set(kind, before + times);
  }

  /** Returns the kinds that did not occur. */
  missing(): string[] {
    return [...this.#counts].filter(([, count]) => count === 0).map(([kind]) => kind);
  }

  /** Returns the count of each kind, one per line. */
  table(): string {
    return [...this.#counts]
      .map(([kind, count]) => `${`${count}`.padStart(8)}  ${kind}`)
      .join("\n");
  }
}
