import type { HostColumns } from "../../placement/hosts.js";
import { hashText } from "../../placement/rendezvous.js";

/** The number of points of each host. */
const POINTS = 160;

/** A ring of consistent hashing (Karger et al., 1997), on which each host has many points. */
export class Ring {
  readonly #hashes: Uint32Array;
  readonly #rows: Uint32Array;

  constructor({ count, ids }: HostColumns) {
    const points: [hash: number, row: number][] = [];
    for (let row = 0; row < count; row += 1) {
      for (let point = 0; point < POINTS; point += 1) {
        points.push([hashText(`${ids[row]}#${point}`), row]);
      }
    }
    points.sort(([one], [other]) => one - other);
    this.#hashes = Uint32Array.from(points, ([hash]) => hash);
    this.#rows = Uint32Array.from(points, ([, row]) => row);
  }

  /** Returns the row of the first host at or after a hash that is accepted, or -1. */
  find(hash: number, accepts: (row: number) => boolean): number {
    let [low, high] = [0, this.#hashes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#hashes[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    for (let step = 0; step < this.#rows.length; step += 1) {
      const row = this.#rows[(low + step) % this.#rows.length]!;
      if (accepts(row)) return row;
    }
    return -1;
  }
}
