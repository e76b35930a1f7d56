/** Reads what `strace` has recorded of a process: the system calls that change files, in their order. */

/** A call that changes a file or a folder, or makes one durable. */
export type SystemCall = {
  /** The path that it concerns. */
  readonly path: string;
  /** The lines of the record at which it began and ended. */
  readonly begin: number;
  readonly end: number;
} & (
  | { readonly kind: "write"; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "punch"; readonly offset: number; readonly length: number }
  | { readonly kind: "truncate" | "extend"; readonly length: number }
  | { readonly kind: "create" | "sync" }
  | { readonly kind: "rename"; readonly to: string }
);

/** The calls that are recorded. */
const TRACED =
  "openat,close,pwrite64,pwritev,write,writev,ftruncate,fallocate,fdatasync,fsync,rename,unlink";

/** Returns the command that records a program. @param log the path of the record */
export function recorded(log: string, program: readonly string[]): [string, string[]] {
  const options = ["-f", "-qq", "-xx", "-s", "4000000", "-e", `trace=${TRACED}`, "-o", log];
  return ["strace", [...options, ...program]];
}

/** Parses a record: the calls, and the lines that the program printed with the lines of the record. */
export function parseRecord(text: string): {
  calls: SystemCall[];
  printed: { line: string; at: number }[];
} {
  const calls: SystemCall[] = [];
  const printed: { line: string; at: number }[] = [];
  const paths = new Map<number, string>();
  const begun = new Map<string, { call: string; begin: number }>();
  for (const [at, line] of text.split("\n").entries()) {
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const unfinished = /^(.*) <unfinished \.\.\.>$/.exec(rest)?.[1];
    if (unfinished !== undefined) {
      begun.set(thread, { call: unfinished, begin: at });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const first = resumed === undefined ? undefined : begun.get(thread);
    const whole = first === undefined ? rest : `${first.call}${resumed}`;
    const [, name = "", args = "", result = ""] = /^(\w+)\((.*)\) += (-?\d+)/.exec(whole) ?? [];
    if (Number(result) < 0 || name === "") continue;
    const span = { begin: first?.begin ?? at, end: at };
    const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = ""]) =>
      Buffer.from(hex.replaceAll("\\x", ""), "hex"),
    );
    const numbers = args
      .replaceAll(/"[^"]*"/g, '""')
      .split(", ")
      .map(Number);
    const path = paths.get(numbers[0] as number) ?? "";
    if (name === "openat") {
      const opened = String(strings[0]);
      paths.set(Number(result), opened);
      if (args.includes("O_CREAT") && opened.includes(".hedgerow-"))
        calls.push({ ...span, kind: "create", path: opened });
    } else if (name === "close") {
      paths.delete(numbers[0] as number);
    } else if (name === "write" && numbers[0] === 1) {
      for (const one of String(strings[0]).trim().split("\n")) printed.push({ line: one, at });
    } else if (name === "rename") {
      calls.push({ ...span, kind: "rename", path: String(strings[0]), to: String(strings[1]) });
    } else if (path.includes(".hedgerow-") || name === "fsync" || name === "fdatasync") {
      const call = callOf(name, numbers, strings[0]);
      if (call !== undefined) calls.push({ ...span, path, ...call });
    }
  }
  return { calls, printed };
}

function callOf(name: string, numbers: readonly number[], bytes = Buffer.alloc(0)) {
  const [, second = 0, third = 0, fourth = 0] = numbers;
  switch (name) {
    case "pwrite64":
      return { kind: "write" as const, offset: fourth, bytes };
    case "ftruncate":
      return { kind: "truncate" as const, length: second };
    case "fallocate":
      // Modes other than 0 are printed as names.
      return second === 0
        ? { kind: "extend" as const, length: third + fourth }
        : { kind: "punch" as const, offset: third, length: fourth };
    case "fsync":
    case "fdatasync":
      return { kind: "sync" as const };
    default:
      throw new Error(`expected no ${name} of a disk's files`);
  }
}
