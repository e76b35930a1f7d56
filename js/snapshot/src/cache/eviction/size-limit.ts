import { SnapshotError } from "../../error.js";
import { readSmallFile } from "../../local/open-file.js";
import { type Inventory, takeInventory } from "../directory/inventory.js";
import type { Layout } from "../directory/layout.js";
import { changing, remove, writeFile } from "../directory/write-files.js";
import type { Evictor, WantedSpace } from "./evictor.js";
import { MARGIN } from "./margin.js";

/** The parameters of an enforcement of the limit. */
interface EnforceOptions {
  /** An image for which space is wanted. What it already takes does not count. */
  readonly wanted?: WantedSpace | undefined;
  /** The content of the cache, if it was just measured. */
  readonly measured?: Inventory | undefined;
}

/** The maximum size of a cache. All methods must be called under the cache lock. */
export class SizeLimit {
  readonly #layout: Layout;
  readonly #evictor: Evictor;
  readonly #maxBytes: number;

  constructor(layout: Layout, evictor: Evictor, maxBytes: number) {
    this.#layout = layout;
    this.#evictor = evictor;
    this.#maxBytes = maxBytes;
  }

  /**
   * Evicts images until the cache is within its limit.
   *
   * If images in use prevent that, notes the limit in the directory; the process that releases an image then enforces
   * it. Of several limits, the smallest is noted.
   *
   * @throws {SnapshotError} `ERR_CACHE_SIZE` if the wanted space exceeds the limit; `ERR_CACHE`
   */
  enforce(enforcing: EnforceOptions = {}): Promise<void> {
    return this.#enforce(this.#maxBytes, enforcing);
  }

  /** Enforces the limit that is noted as exceeded, if any. @throws {SnapshotError} `ERR_CACHE` */
  async enforceNoted(): Promise<void> {
    const noted = await this.#readNoted();
    if (noted !== undefined) await this.#enforce(noted, {});
  }

  async #enforce(maxBytes: number, { wanted, measured }: EnforceOptions): Promise<void> {
    let missing = await this.#evictDownTo(maxBytes - MARGIN, { wanted, measured });
    let noted = await this.#readNoted();
    if (missing > 0 && (noted === undefined || noted > maxBytes)) {
      noted = maxBytes;
      await changing(this.#layout, writeFile(this.#layout.excess, String(noted)));
      // An image that was released before the note existed has not been evicted.
      missing = await this.#evictDownTo(maxBytes - MARGIN, { wanted });
    }
    if (missing > 0 || noted === undefined || noted < maxBytes) return;
    await changing(this.#layout, remove(this.#layout.excess));
  }

  /** Evicts images down to `maxBytes`. Returns by how many bytes the cache still exceeds it. */
  async #evictDownTo(maxBytes: number, { wanted, measured }: EnforceOptions): Promise<number> {
    const inventory = measured ?? (await takeInventory(this.#layout));
    if (wanted !== undefined) this.#checkFits(wanted, maxBytes - inventory.ownBytes);
    const { missing } = await this.#evictor.evictDownTo(maxBytes, inventory, wanted);
    return missing;
  }

  /** Returns the limit that a process recorded as exceeded, if any. */
  async #readNoted(): Promise<number | undefined> {
    const text = await changing(this.#layout, readSmallFile(this.#layout.excess));
    if (text === undefined) return undefined;
    // A process that was killed while writing the note leaves it empty.
    return /^\d{1,16}$/.test(text) ? Number(text) : this.#maxBytes;
  }

  /** @throws {SnapshotError} `ERR_CACHE_SIZE` */
  #checkFits({ digest, needed }: WantedSpace, available: number): void {
    if (needed <= available) return;
    const { directory } = this.#layout;
    const limit = `maxBytes ${this.#maxBytes} leaves ${Math.max(0, available)} for images`;
    const message = `the snapshot ${digest} needs ${needed} bytes in the cache ${directory}; ${limit}`;
    throw new SnapshotError("ERR_CACHE_SIZE", message);
  }
}
