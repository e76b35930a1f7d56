/** The local images of attached disks. An image that may have unsaved changes stays until it is recovered or discarded. */
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { hasState, type IdleImage, LockedDisk, openIdleImage } from "../disk/locked-disk.js";
import { messageOf, SnapshotError } from "../error.js";
import { writeAtomically } from "../local/atomic-write.js";
import { lockFile, Mutex } from "../local/locks.js";
import { readWholeFile } from "../local/open-file.js";
import { checkOwnDirectory, PRIVATE_DIRECTORY } from "../local/private-file.js";
import {
  isUnkeepable,
  undefinedIfMissing,
  wrapSystemErrors,
  wrapWriteErrors,
} from "../local/system-errors.js";
import { isDigest, isVolumeKind, type VolumeKind } from "./pointer.js";

const MAX_RECORD_LENGTH = 4_096;

/** The suffixes of an image and of its record. */
const IMAGE = ".raw";
const RECORD = ".json";

/** Precedes the name of a volume: no disk has it in its name. */
const VOLUME = "@";

/** The file that is locked while images are made, removed or inspected. */
const LOCK = "lock";

/** Matches the names of temporary files. */
const TEMPORARY = /^\.hedgerow-.*\.tmp$/;

/** The origin of a local image. */
export interface ImageNote {
  /** The name of the disk. */
  readonly name: string;
  /** The number of the generation that the image began with. */
  readonly generation: number;
  /** The identity of the snapshot of that generation. */
  readonly digest: string;
  /** Whether its changes are saved or not wanted. */
  readonly isDone?: boolean | undefined;
  /** The kind of a further volume of the disk, and its size in bytes. */
  readonly kind?: VolumeKind | undefined;
  readonly size?: number | undefined;
}

/** The origin of a local image whose record may be damaged. */
export interface ImageOrigin extends Omit<ImageNote, "generation"> {
  /** The number of the generation that the image began with; undefined if the record of the image is damaged. */
  readonly generation: number | undefined;
}

/** The content of a record: the origin of an image, and its store. */
interface ImageRecord extends ImageNote {
  /** The ID of the store. */
  readonly store: string;
}

/** The local image of a further volume. */
interface VolumeImage {
  readonly volume: string;
  readonly path: string;
  readonly origin: ImageOrigin;
}

/** A local image whose changes may not have been saved. */
export interface UnsavedImage extends Pick<ImageOrigin, "name" | "generation"> {
  /** The path of the image. */
  readonly image: string;
  /** The identity of the snapshot that the image began with; undefined if its files are damaged. */
  readonly digest: string | undefined;
  /**
   * The number of bytes that were written to it, and to the disks among its volumes; undefined if their files are damaged.
   */
  readonly changedBytes: number | undefined;
}

/** The local images of one store. */
export class LocalImages {
  /** By directory: images of an earlier configuration may be elsewhere. */
  readonly #locks = new Map<string, Mutex>();

  constructor(
    readonly directory: string,
    /** The ID of the store. */
    private readonly store: string,
  ) {}

  /** Returns the default directory. @param cache the directory of the cache, if there is one */
  static defaultDirectory(cache: string | undefined): string {
    if (cache !== undefined) return `${cache}-disks`;
    const { XDG_STATE_HOME = "" } = process.env;
    if (isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, "hedgerow", "disks");
    const home = homeDirectory();
    // Unlike /tmp, this survives a reboot.
    if (home === undefined) return `/var/tmp/hedgerow-${process.getuid?.()}-disks`;
    return join(home, ".local", "state", "hedgerow", "disks");
  }

  /** Makes the directory. @throws {SnapshotError} `ERR_TARGET`, also if other users can write to it */
  async open(): Promise<void> {
    const { directory } = this;
    try {
      await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    } catch (cause) {
      const message = `cannot make a directory for local images: ${messageOf(cause)}; pass images, or set XDG_STATE_HOME, to choose another`;
      throw new SnapshotError("ERR_TARGET", message, { cause });
    }
    await checkOwnDirectory("ERR_TARGET", directory);
  }

  /** Returns the path of a new image of a disk, or of a volume. @param token that of its lease */
  pathFor(name: string, token: string, volume?: string): string {
    const stem = `${name}-${token.slice(0, 8)}`;
    const named = volume === undefined ? stem : `${stem}${VOLUME}${volume}`;
    return join(resolve(this.directory), `${named}${IMAGE}`);
  }

  /**
   * Records the origin of a new image, and locks the image. As long as an image has files, it has a record.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  begin(image: string, note: ImageNote): Promise<LockedDisk> {
    return this.#locked(image, async () => {
      await this.#record(image, note, false);
      return LockedDisk.open(image);
    });
  }

  /** Makes the record of an image durable, before the image is written to. @throws {SnapshotError} `ERR_TARGET` */
  keep(image: string, note: ImageNote): Promise<void> {
    return this.#record(image, note, true);
  }

  /** Locks an image. @throws {SnapshotError} `ERR_TARGET` if a process has it open */
  lock(image: string): Promise<LockedDisk> {
    return this.#locked(image, () => LockedDisk.open(image));
  }

  /**
   * Removes an image whose changes are saved or not wanted, with those of its volumes. Returns false if a process has it
   * open.
   */
  remove(image: string, note: ImageOrigin): Promise<boolean> {
    return this.#locked(image, async () => {
      const idle = await openIdleImage(image);
      if (idle === undefined) return false;
      try {
        // If this is interrupted, the rest must not count as unsaved. On a full file system, it may.
        await this.#record(image, { ...note, isDone: true }, false).catch((error: unknown) => {
          if (!isUnkeepable(error)) throw error;
        });
        await this.#removeAll(image, idle);
        return true;
      } finally {
        await idle.close();
      }
    });
  }

  /** Returns the images of the volumes of a disk. */
  async volumesOf(image: string): Promise<VolumeImage[]> {
    const found = [];
    for (const path of await this.#volumePaths(image)) {
      const volume = basename(path, IMAGE).split(VOLUME)[1] as string;
      found.push({ volume, path, origin: await this.originOf(path) });
    }
    return found;
  }

  /**
   * Returns the origin of an image of this store. If its record is damaged, the other files of the image say most of it.
   *
   * @throws {SnapshotError} `ERR_ARGUMENT`, `ERR_TARGET`
   */
  async originOf(image: string): Promise<ImageOrigin> {
    const found = await this.#readRecord(resolve(image));
    if (found === undefined) {
      const message = `image: expected the local image of a disk of this store, found ${image}`;
      throw new SnapshotError("ERR_ARGUMENT", message);
    }
    if (found !== "damaged") return found;
    const digest = await this.#whileIdle(resolve(image), (idle) => idle.digest());
    if (digest !== undefined) return { name: nameIn(image), generation: undefined, digest };
    const message = `${recordOf(image)}: expected the record of an image that no process has open, found a damaged one`;
    throw new SnapshotError("ERR_TARGET", message);
  }

  /** Yields the images that no process has open and that were written to, or whose files are damaged. */
  async *unsaved(): AsyncGenerator<UnsavedImage> {
    for await (const [image, record] of this.#records()) {
      if (record?.isDone) continue;
      const { name, generation } = record ?? { name: nameIn(image), generation: undefined };
      const found = await this.#whileIdle(image, async (idle) => {
        const changedBytes = await this.#changedBytes(image, idle);
        return { changedBytes, digest: record?.digest ?? (await idle.digest()) };
      }).catch(() => ({ changedBytes: undefined, digest: record?.digest }));
      if (found !== undefined && found.changedBytes !== 0)
        yield { image, name, generation, ...found };
    }
  }

  /**
   * Removes the images that no process has open and that need not be kept, and temporary files of killed processes.
   *
   * @param age of temporary files, in milliseconds
   */
  async clean(age: number): Promise<void> {
    for await (const [image, record] of this.#records()) {
      await this.#whileIdle(image, async (idle) => {
        if (record?.isDone || (await this.#changedBytes(image, idle)) === 0)
          await this.#removeAll(image, idle);
      }).catch(() => {
        // It may have unsaved changes. Others need not wait until it is mended.
      });
    }
    const before = Date.now() - age;
    for (const name of await this.#names()) {
      if (!TEMPORARY.test(name)) continue;
      const path = join(this.directory, name);
      const found = await undefinedIfMissing(stat(path));
      if (found !== undefined && found.mtimeMs <= before) await rm(path, { force: true });
    }
  }

  /** Yields the images of disks of this store with their records, which are undefined if they are damaged. */
  async *#records(): AsyncGenerator<readonly [image: string, record: ImageRecord | undefined]> {
    const names = await this.#names();
    const isOfDisk = (name: string) => name.endsWith(RECORD) && !name.includes(VOLUME);
    for (const name of names.filter(isOfDisk).sort()) {
      const image = join(resolve(this.directory), `${basename(name, RECORD)}${IMAGE}`);
      const record = await this.#readRecord(image).catch(() => undefined);
      if (record !== undefined) yield [image, record === "damaged" ? undefined : record];
    }
  }

  /** Returns the record of an image, or undefined if it is not one of this store. A damaged one may be of any store. */
  async #readRecord(image: string): Promise<ImageRecord | "damaged" | undefined> {
    const path = recordOf(image);
    const reading = readWholeFile(path, MAX_RECORD_LENGTH);
    const bytes = await wrapSystemErrors("ERR_TARGET", `cannot read ${path}`, reading);
    if (bytes === undefined) return undefined;
    const found = parseRecord(bytes);
    if (found === undefined) return hasState(image) ? "damaged" : undefined;
    return found.store === this.store ? found : undefined;
  }

  async #names(): Promise<string[]> {
    return (await undefinedIfMissing(readdir(this.directory))) ?? [];
  }

  /** Calls `use` with an image, unless a process has it open or has removed it. */
  #whileIdle<T>(image: string, use: (idle: IdleImage) => Promise<T>): Promise<T | undefined> {
    return this.#locked(image, async () => {
      // Opening an image that was removed would create a state file.
      if ((await undefinedIfMissing(stat(recordOf(image)))) === undefined) return undefined;
      const idle = await openIdleImage(image);
      try {
        return idle && (await use(idle));
      } finally {
        await idle?.close();
      }
    });
  }

  /**
   * Runs an action while no other process makes, removes or inspects an image in the same directory: inspecting locks the
   * image, too.
   *
   * @throws {SnapshotError} `ERR_TARGET`
   */
  async #locked<T>(image: string, action: () => Promise<T>): Promise<T> {
    const directory = dirname(image);
    await checkOwnDirectory("ERR_TARGET", directory);
    const path = join(directory, LOCK);
    const lock = this.#locks.get(directory) ?? new Mutex("ERR_TARGET", path, () => lockFile(path));
    this.#locks.set(directory, lock);
    return lock.run(action);
  }

  async #record(image: string, record: ImageOrigin, isDurable: boolean): Promise<void> {
    const text = `${JSON.stringify({ version: 1, store: this.store, ...record })}\n`;
    const options = { isDurable, followsLinks: false };
    const path = recordOf(image);
    await writeAtomically(path, options, (file) => wrapWriteErrors(path, file.writeFile(text)));
  }

  /** Returns the number of bytes that were written to the image of a disk, and to the disks among its volumes. */
  async #changedBytes(image: string, idle: IdleImage): Promise<number> {
    let sum = await idle.writtenBytes();
    for (const path of await this.#volumePaths(image)) {
      const record = await this.#readRecord(path);
      if (record !== "damaged" && record?.kind !== "disk") continue;
      const volume = await openIdleImage(path);
      try {
        sum += (await volume?.writtenBytes()) ?? 0;
      } finally {
        await volume?.close();
      }
    }
    return sum;
  }

  /** Removes the images of the volumes of a disk, and then its own. */
  async #removeAll(image: string, idle: IdleImage): Promise<void> {
    for (const path of await this.#volumePaths(image)) {
      const volume = await openIdleImage(path);
      try {
        if (volume !== undefined) await this.#remove(path, volume);
      } finally {
        await volume?.close();
      }
    }
    await this.#remove(image, idle);
  }

  async #remove(image: string, idle: IdleImage): Promise<void> {
    await idle.remove();
    await rm(recordOf(image), { force: true });
  }

  /** Returns the paths of the images of volumes of a disk. They have records, even if the images are incomplete. */
  async #volumePaths(image: string): Promise<string[]> {
    const start = `${basename(image, IMAGE)}${VOLUME}`;
    const names = await undefinedIfMissing(readdir(dirname(image)));
    return (names ?? [])
      .filter((name) => name.startsWith(start) && name.endsWith(RECORD))
      .map((name) => join(dirname(image), `${basename(name, RECORD)}${IMAGE}`))
      .sort();
  }
}

/** Returns the home directory of this user, if there is one. */
function homeDirectory(): string | undefined {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const found = find();
      // Container engines set HOME to / for users that are not in the password file.
      if (isAbsolute(found) && resolve(found) !== "/") return found;
    } catch {
      // The user is not in the password file.
    }
  }
  return undefined;
}

function recordOf(image: string): string {
  return `${image.slice(0, -IMAGE.length)}${RECORD}`;
}

/** Returns the name of the disk that an image is of. */
function nameIn(image: string): string {
  return basename(image, IMAGE).replace(/-[0-9a-f]{8}(@.*)?$/, "");
}

function parseRecord(bytes: Buffer): ImageRecord | undefined {
  try {
    const found = Object(JSON.parse(String(bytes))) as Record<string, unknown>;
    const { version, store, name, generation, digest, isDone, kind, size } = found;
    const isValid = version === 1 && typeof store === "string" && typeof name === "string";
    const isKnown =
      Number.isSafeInteger(generation) || (isDone === true && generation === undefined);
    if (!isValid || !isDigest(digest) || !isKnown) return undefined;
    const record = { store, name, generation: generation as number, digest };
    const volume = isVolumeKind(kind) ? { kind, size: Number(size) } : undefined;
    return { ...record, isDone: isDone === true, ...volume };
  } catch {
    return undefined;
  }
}
