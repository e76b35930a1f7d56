import type { CreateInfo } from "../create-snapshot.js";
import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { checkDifferentPath } from "../local/open-file.js";
import { locationOf, safeLocation } from "../location/location.js";
import { writeSmallObject } from "../location/small-object.js";
import { readOptions } from "../options/read-options.js";
import { checkSave, type SaveOptions } from "../options/save-options.js";
import { BlockDevice } from "./block-device.js";
import { traceLocation } from "./trace.js";

/** A disk whose image can be read and written to before it has arrived. Returned by `openSnapshot`. */
export class Disk extends BlockDevice {
  #closing: Promise<void> | undefined;

  /**
   * Saves the disk while it is in use: writes a delta relative to the last save, or else to the snapshot that was opened.
   * The delta has what was written before the call, and nothing that was written after it.
   *
   * @param destination the path of the delta, or its URL: `file:`, `http:`, `https:`, or `s3://bucket/key`
   * @throws {SnapshotError} what `createSnapshot` throws, `ERR_DISK_CLOSED`
   */
  async save(destination: string | URL, options: SaveOptions = {}): Promise<CreateInfo> {
    const begun = performance.now();
    options = readOptions(options);
    checkSave(options);
    const location = locationOf("destination", destination);
    if (location.kind === "file")
      await checkDifferentPath("destination", location.path, this.image);
    const { info, pause } = await this.parts.saver.save({ location }, options);
    const duration = performance.now() - begun;
    const saved = { destination: safeLocation(location), bytes: info.fileSize, pause, duration };
    emit("hedgerow:disk:save", { image: this.image, ...saved });
    return { ...info, duration };
  }

  /**
   * Stores {@link trace}, so that the next disk fetches it first.
   *
   * @param destination its path or URL. Default: `<snapshot>.trace` beside the snapshot
   * @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT`
   */
  async saveTrace(destination?: string | URL): Promise<void> {
    const { location: snapshot, options } = this.parts;
    const location =
      destination === undefined ? traceLocation(snapshot) : locationOf("destination", destination);
    if (location === undefined) {
      const message = "destination: expected one, because the URL of the snapshot has a query";
      throw new SnapshotError("ERR_ARGUMENT", message);
    }
    const text = `${JSON.stringify(this.trace)}\n`;
    await writeSmallObject(location, Buffer.from(text), { ...options, signal: undefined });
  }

  /**
   * Closes the disk: readers that wait get an error, and what was written becomes durable. The next `openSnapshot` of the
   * same image goes on from there.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  close(): Promise<void> {
    this.#closing ??= this.closeParts();
    return this.#closing;
  }

  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
