/** What Node cannot ask of the system, and the C library can. */

/** The functions of the C library. Each returns the negative of an error number if it fails. */
export interface Libc {
  /** Seeks in an open file. */
  lseek(fd: number, offset: number, whence: number): number;
  /** Locks an open file, or unlocks it. */
  flock(fd: number, operation: number): number;
  /**
   * Has an open file share the blocks of another. The system first puts on the disk what was written to
   * that one, which may take a while.
   */
  clone(target: number, source: number): Promise<number>;
}

/** What `ioctl` is told to clone a file. */
const FICLONE = 0x40049409;

/** Where the C library's offsets have 64 bits, and where this is tested. */
const ARCHITECTURES: readonly string[] = ["x64", "arm64"];

let loaded: Promise<Libc | undefined> | undefined;

/** The C library that Node runs on, or undefined where there is no way to call it. */
export function libc(): Promise<Libc | undefined> {
  loaded ??= load();
  return loaded;
}

/** Needs the optional package `koffi`. */
async function load(): Promise<Libc | undefined> {
  if (process.platform !== "linux" || !ARCHITECTURES.includes(process.arch)) return undefined;
  try {
    const koffi = await import("koffi");
    const library = koffi.load(null);
    const lseek = library.func("int64_t lseek(int fd, int64_t offset, int whence)");
    const flock = library.func("int flock(int fd, int operation)");
    // Functions of no fixed arguments cannot be called beside the event loop. On these architectures
    // an integer is passed the same either way.
    const ioctl = library.func("int ioctl(int fd, unsigned long request, long argument)");
    const checked = (result: number | bigint) => {
      return result < 0 ? -koffi.errno() : Number(result);
    };
    const clone = (target: number, source: number) =>
      new Promise<number>((resolve, reject) => {
        ioctl.async(target, FICLONE, source, (error: unknown, result: number) => {
          // The number of the error is that of this call only in here.
          if (error === null) resolve(checked(result));
          else reject(error);
        });
      });
    return {
      lseek: (fd, offset, whence) => checked(lseek(fd, offset, whence)),
      flock: (fd, operation) => checked(flock(fd, operation)),
      clone,
    };
  } catch {
    // Not installed, not for this system, not permitted: whoever asks does without.
    return undefined;
  }
}
