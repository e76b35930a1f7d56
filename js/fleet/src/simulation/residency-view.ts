/** A change of which hosts have an image. */
interface Change {
  readonly at: number;
  readonly image: number;
  readonly host: string;
  readonly isThere: boolean;
}

/** The content of all caches as the placer knows it: with a delay. */
export class ResidencyView {
  readonly #delay: number;
  readonly #hosts: Set<string>[];
  /** In order, since all are delayed by the same time. */
  #changes: Change[] = [];
  #applied = 0;

  constructor(images: number, delay: number) {
    this.#delay = delay;
    this.#hosts = Array.from({ length: images }, () => new Set());
  }

  /** Returns the hosts that are known to have an image. */
  hostsOf(image: number): ReadonlySet<string> {
    return this.#hosts[image]!;
  }

  /** Reports that a host now has an image, or no longer has it. */
  report(now: number, image: number, host: string, isThere: boolean): void {
    this.#changes.push({ at: now + this.#delay, image, host, isThere });
  }

  /** Makes the changes known that have arrived until now. */
  advance(now: number): void {
    for (;;) {
      const change = this.#changes[this.#applied];
      if (change === undefined || change.at > now) break;
      this.#applied += 1;
      if (change.isThere) this.#hosts[change.image]!.add(change.host);
      else this.#hosts[change.image]!.delete(change.host);
    }
    if (this.#applied < 1024) return;
    this.#changes = this.#changes.slice(this.#applied);
    this.#applied = 0;
  }
}
