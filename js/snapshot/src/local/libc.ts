/** System calls that Node does not offer, made through the C library by the optional package `koffi`. */

/** Functions of the C library. Each returns a negated error number if it fails. */
export interface Libc {
  /** Moves the position of an open file. */
  lseek(fd: number, offset: number, whence: number): number;
  /** Locks or unlocks an open file. */
  flock(fd: number, operation: number): number;
  /**
   * Makes an open file share all blocks of another (`FICLONE`). The kernel first writes pending data of
   * the source to the disk, which may take seconds.
   */
  clone(target: number, source: number): Promise<number>;
  /**
   * Copies up to `length` bytes at `offset` of one open file to the same offset in another, in the kernel.
   * Returns the number of bytes copied.
   */
  copyRange(target: number, source: number, offset: number, length: number): Promise<number>;
  /** Makes a range of an open file a hole, which reads as zeros. The size of the file stays. */
  punchHole(fd: number, offset: number, length: number): Promise<number>;
  /** Does the same at once, on the calling thread. */
  punchHoleSync(fd: number, offset: number, length: number): number;
  /** Allocates the space of an open file up to `length` bytes, which is its size then. */
  allocate(fd: number, length: number): Promise<number>;
  /** Renames a file, unless the new name exists (`RENAME_NOREPLACE`). */
  renameNew(from: string, to: string): Promise<number>;
  /** Starts to write the pending data of an open file to the disk, and does not wait for it (`sync_file_range`). */
  startWriteback(fd: number): Promise<number>;
  /**
   * Sets the size of the send buffer of a socket, in bytes. Without the privilege to exceed it, the limit of the system
   * holds.
   */
  setSendBuffer(fd: number, size: number): number;
  /**
   * Fills `map`, a `struct fiemap`, with the physical extents of an open file (`FS_IOC_FIEMAP`). Leave `map`
   * alone until the promise settles.
   */
  fiemap(fd: number, map: Buffer): Promise<number>;
  /** Returns the flags of an open file in a `struct fsxattr` (`FS_IOC_FSGETXATTR`). */
  attributes(fd: number): Promise<number>;
}

/** Values of `whence` for `lseek` on Linux. */
export const SEEK_END = 2;
export const SEEK_DATA = 3;
export const SEEK_HOLE = 4;

/** Requests of `ioctl`. */
const FICLONE = 0x40049409;
const FIEMAP = 0xc020660b;
const FSGETXATTR = 0x801c581f;

/** Size of a `struct fsxattr`, in bytes. Its flags come first. */
const FSXATTR_SIZE = 28;

/** Mode of `fallocate`: `FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE`. */
const PUNCH_HOLE = 0x3;

/** Flag of `sync_file_range`. */
const SYNC_FILE_RANGE_WRITE = 0x2;

/** Level and options of `setsockopt`. */
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_SNDBUFFORCE = 32;

/** The number of the system call `renameat2`, which some C libraries lack, its flag, and the current folder. */
const RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const RENAME_NOREPLACE = 1;
const AT_FDCWD = -100;

/** Architectures with 64-bit file offsets in the C library on which this is tested. */
const ARCHITECTURES: readonly string[] = ["x64", "arm64"];

/**
 * How many calls run at a time. koffi rejects more than 256, which many copies at once would need; the thread
 * pool runs only a few of them anyway.
 */
const MAX_CALLS = 64;

let loaded: Promise<Libc | undefined> | undefined;

/** Returns the C library that Node runs on, or undefined where it cannot be called. */
export function libc(): Promise<Libc | undefined> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Libc | undefined> {
  if (process.platform !== "linux" || !ARCHITECTURES.includes(process.arch)) return undefined;
  try {
    const koffi = await import("koffi");
    const library = koffi.load(null);
    const lseek = library.func("int64_t lseek(int fd, int64_t offset, int whence)");
    const flock = library.func("int flock(int fd, int operation)");
    // koffi cannot call variadic functions off the main thread. On these architectures an integer is
    // passed in the same way to both kinds.
    const ioctl = library.func("int ioctl(int fd, unsigned long request, long argument)");
    const ioctlOnBuffer = library.func("int ioctl(int fd, unsigned long request, void *argument)");
    const fallocate = library.func(
      "int fallocate(int fd, int mode, int64_t offset, int64_t length)",
    );
    const syncFileRange = library.func(
      "int sync_file_range(int fd, int64_t offset, int64_t length, unsigned int flags)",
    );
    const copyFileRange = library.func(
      "int64_t copy_file_range(int in, int64_t *offsetIn, int out, int64_t *offsetOut, size_t length, unsigned int flags)",
    );
    const setsockopt = library.func(
      "int setsockopt(int fd, int level, int option, const int *value, uint32_t length)",
    );
    const syscall = library.func(
      "long syscall(long number, long from, const char *old, long to, const char *name, long flags)",
    );
    const checked = (result: number | bigint) => {
      return result < 0 ? -koffi.errno() : Number(result);
    };
    let running = 0;
    const waiting: (() => void)[] = [];
    /** Calls a function on the thread pool. */
    const call = async (func: typeof ioctl, ...args: unknown[]) => {
      if (running < MAX_CALLS) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await new Promise<number>((resolve, reject) => {
          func.async(...args, (error: unknown, result: number | bigint) => {
            // `errno` belongs to this call only inside the callback.
            if (error === null) resolve(checked(result));
            else reject(error);
          });
        });
      } finally {
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    };
    return {
      lseek: (fd, offset, whence) => checked(lseek(fd, offset, whence)),
      flock: (fd, operation) => checked(flock(fd, operation)),
      clone: (target, source) => call(ioctl, target, FICLONE, source),
      copyRange: (target, source, offset, length) =>
        call(copyFileRange, source, [offset], target, [offset], length, 0),
      punchHole: (fd, offset, length) => call(fallocate, fd, PUNCH_HOLE, offset, length),
      punchHoleSync: (fd, offset, length) => checked(fallocate(fd, PUNCH_HOLE, offset, length)),
      allocate: (fd, length) => call(fallocate, fd, 0, 0, length),
      renameNew: (from, to) => {
        const number = RENAMEAT2[process.arch];
        return call(syscall, number, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
      },
      setSendBuffer: (fd, size) => {
        const set = (option: number) => checked(setsockopt(fd, SOL_SOCKET, option, [size], 4));
        return set(SO_SNDBUFFORCE) === 0 ? 0 : set(SO_SNDBUF);
      },
      // A length of 0 stands for the end of the file.
      startWriteback: (fd) => call(syncFileRange, fd, 0, 0, SYNC_FILE_RANGE_WRITE),
      fiemap: (fd, map) => call(ioctlOnBuffer, fd, FIEMAP, map),
      attributes: async (fd) => {
        const found = Buffer.alloc(FSXATTR_SIZE);
        const result = await call(ioctlOnBuffer, fd, FSGETXATTR, found);
        return result < 0 ? result : found.readUInt32LE();
      },
    };
  } catch {
    // koffi is not installed, does not support this system, or is not allowed to load.
    return undefined;
  }
}
