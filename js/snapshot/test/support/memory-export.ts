/** A block device in memory, to test the server of NBD without disks. */
import type { Export, StatusExtent } from "../../dist/nbd/export.js";

const ZEROS = Buffer.alloc(4096);

/** A block device in memory, of which each block of 4 KiB of zeros is a hole. */
export class MemoryExport implements Export {
  readonly bytes: Buffer;
  /** The calls so far, each as its name and arguments. */
  readonly calls: string[] = [];
  /** The number of bytes that were read. */
  bytesRead = 0;
  /** Calls wait for it, if there is one. */
  pending: Promise<void> | undefined;
  #onHeld: () => void = () => {};
  /** Resolves when a call waits. */
  readonly held = new Promise<void>((resolve) => {
    this.#onHeld = resolve;
  });
  /** What every call throws, if it is set. */
  error: Error | undefined;

  constructor(
    readonly size: number,
    readonly isReadOnly = false,
  ) {
    this.bytes = Buffer.alloc(size);
  }

  /** Makes calls wait until the returned function is called. */
  hold(): () => void {
    let release: () => void = () => {};
    this.pending = new Promise((resolve) => {
      release = () => {
        this.pending = undefined;
        resolve();
      };
    });
    return release;
  }

  readNow(offset: number, target: Uint8Array): boolean {
    if (this.error !== undefined) throw this.error;
    if (this.pending !== undefined) return false;
    target.set(this.bytes.subarray(offset, offset + target.length));
    this.bytesRead += target.length;
    return true;
  }

  async load(): Promise<void> {
    await this.#wait();
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    await this.#call(`write ${offset} ${bytes.length}`);
    this.bytes.set(bytes, offset);
  }

  async writeZeros(offset: number, length: number, mayPunch: boolean): Promise<void> {
    await this.#call(`zeros ${offset} ${length} ${mayPunch}`);
    this.bytes.fill(0, offset, offset + length);
  }

  async discard(offset: number, length: number): Promise<void> {
    await this.#call(`discard ${offset} ${length}`);
  }

  async flush(): Promise<void> {
    await this.#call("flush");
  }

  prefetch(offset: number, length: number): void {
    this.calls.push(`prefetch ${offset} ${length}`);
  }

  status(offset: number, length: number, limit: number): StatusExtent[] {
    if (this.error !== undefined) throw this.error;
    const extents: { length: number; flags: number }[] = [];
    for (let at = offset; at < offset + length && extents.length <= limit; ) {
      const end = Math.min(at - (at % 4096) + 4096, offset + length);
      const isZero = this.bytes.subarray(at, end).equals(ZEROS.subarray(0, end - at));
      const flags = isZero ? 3 : 0;
      const last = extents.at(-1);
      if (last?.flags === flags) last.length += end - at;
      else extents.push({ length: end - at, flags });
      at = end;
    }
    return extents.slice(0, limit);
  }

  async #call(call: string): Promise<void> {
    this.calls.push(call);
    await this.#wait();
  }

  async #wait(): Promise<void> {
    if (this.pending !== undefined) this.#onHeld();
    await this.pending;
    if (this.error !== undefined) throw this.error;
  }
}
