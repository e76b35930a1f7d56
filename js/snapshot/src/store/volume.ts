/** The further volumes of an attached disk, which are saved together with it. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { BlockDevice, type OpenDisk } from "../disk/disk.js";
import { encodingOf } from "../encode/snapshot-encoder.js";
import { transferOf } from "../http/transfer.js";
import { copyInto } from "../local/copy-image.js";
import { ImageFile } from "../local/image-file.js";
import { openTemporaryFile } from "../local/private-file.js";
import { writeFullSnapshot } from "../location/write-snapshot.js";
import type { JointSave, SaveWork } from "./joint-save.js";
import { type Snapshots, storedOf } from "./snapshots.js";

/** A further volume of an attached disk. Returned by `AttachedDisk.volume`. */
export type Volume = DiskVolume | FileVolume;

/** A disk, or the memory of a virtual machine: it is read, written and served like the disk that it belongs to. */
export class DiskVolume extends BlockDevice {
  /** Its name among the volumes of the disk. */
  readonly name: string;
  /** What it holds. */
  readonly kind: "disk" | "memory";

  /** @internal */
  constructor(open: OpenDisk, name: string, kind: "disk" | "memory") {
    super(open);
    this.name = name;
    this.kind = kind;
  }

  /** @internal */
  override closeServers(): Promise<void> {
    return super.closeServers();
  }

  /** @internal */
  override closeDisk(): Promise<void> {
    return super.closeDisk();
  }
}

/** A small file of any size, which is there as a whole. */
export class FileVolume {
  /** Its name among the volumes of the disk. */
  readonly name: string;
  /** What it is. */
  readonly kind = "file";
  /** The absolute path of the file. It may be written to at any time: a save stores what it holds after `freeze`. */
  readonly path: string;

  /** When it was modified last before it was restored or saved. */
  #modified: number | undefined;

  /** @internal */
  constructor(path: string, name: string) {
    this.path = path;
    this.name = name;
    this.#modified = this.#modificationTime;
  }

  /** Whether the file was written to or removed since it was restored or saved last. @internal */
  get hasChanged(): boolean {
    return this.#modificationTime !== this.#modified;
  }

  /** When the file was modified, in milliseconds; undefined if it is missing. */
  get #modificationTime(): number | undefined {
    return statSync(this.path, { throwIfNoEntry: false })?.mtimeMs;
  }

  /**
   * Saves the file together with other volumes.
   *
   * @param last the identity of its last snapshot
   * @throws {SnapshotError} `ERR_IMAGE`, `ERR_TARGET`, `ERR_STORE`
   * @internal
   */
  async saveWith(
    joint: JointSave,
    snapshots: Snapshots,
    work: SaveWork,
    last: string | undefined,
  ): Promise<void> {
    const { path } = this;
    const { signal } = work;
    const { handle } = await openTemporaryFile(dirname(path));
    let modified: number | undefined;
    try {
      await joint.copy(async () => {
        modified = this.#modificationTime;
        const image = await ImageFile.open(path);
        try {
          await copyInto({ image, path, file: handle, signal });
        } finally {
          await image.close();
        }
      });
      const image = await ImageFile.of(path, handle);
      const encoding = encodingOf(work);
      const job = { image, encoding, options: work, transfer: transferOf(work) };
      await snapshots.create(async (snapshot) => {
        const info = await writeFullSnapshot(snapshot.write, job);
        if (info.digest === last) return joint.unchanged();
        await snapshot.publish(info, signal);
        await joint.publish(this.name, storedOf(info));
      });
      this.#modified = modified;
    } finally {
      await handle.close();
    }
  }
}
