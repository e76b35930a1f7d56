/** Stripping of the heads that streams of Node's HTTP/2 servers send, including by their own API. */
import type { ServerHttp2Stream } from "node:http2";

import type { Stripping } from "./adapter.js";
import { namesOf, namesToStrip, valueAt, withoutNames } from "./fields.js";

type Given = Readonly<Record<string, unknown>> | readonly unknown[] | null | undefined;
type Method = (...args: unknown[]) => unknown;

/** Methods that send a head, and the index of their argument with the fields. The options follow it. */
const SENDERS = [
  ["respond", 0],
  ["respondWithFD", 1],
  ["respondWithFile", 1],
] as const;

/**
 * Makes a stream strip its head, its push promises, and the heads of pushed streams. Changes nothing in a dry run.
 *
 * @param note notes the head: that of `stripping`, unless a response notes it
 */
export function stripStream(
  stripping: Stripping,
  stream: ServerHttp2Stream,
  note = once(stripping.note),
): void {
  const head = { ...stripping, note };
  const methods = stream as unknown as Record<string, Method>;
  for (const [name, at] of SENDERS) {
    const send = methods[name]!;
    methods[name] = (...args) => {
      args[at] = stripped(head, args[at] as Given);
      args[at + 1] = withStatCheck(stripping, args[at + 1] as Options);
      return send.apply(stream, args);
    };
  }
  const { pushStream } = methods;
  methods.pushStream = (fields, ...rest) => {
    const args = rest.map((argument) =>
      typeof argument === "function" ? withPushed(stripping, argument as Method) : argument,
    );
    // A promise is a message of its own.
    return pushStream!.call(stream, stripped(stripping, fields as Given), ...args);
  };
}

function stripped({ stripper, isDryRun, note }: Stripping, fields: Given): Given {
  if (typeof fields !== "object" || fields === null) return fields;
  const at = (index: number) => valueAt(fields, index);
  const names = namesToStrip(stripper, namesOf(fields), at, true);
  note(names);
  return isDryRun ? fields : withoutNames(fields, names);
}

type Options = { readonly statCheck?: unknown } | null | undefined;

/** Returns options whose `statCheck`, if there is one, cannot add fields that the rules match. */
function withStatCheck(stripping: Stripping, options: Options): Options {
  const statCheck = options?.statCheck;
  if (typeof statCheck !== "function" || stripping.isDryRun) return options;
  const silent = { ...stripping, note() {} };
  return {
    ...options,
    statCheck(this: unknown, stat: unknown, fields: Record<string, unknown>, ...rest: unknown[]) {
      const result = statCheck.call(this, stat, fields, ...rest);
      const kept = stripped(silent, fields)!;
      for (const name of Object.keys(fields)) if (!Object.hasOwn(kept, name)) delete fields[name];
      return result;
    },
  };
}

/** Wraps a callback, so that the pushed stream it receives strips its heads. */
function withPushed(stripping: Stripping, callback: Method): Method {
  return (error, pushed, ...rest) => {
    if (pushed) stripStream(stripping, pushed as ServerHttp2Stream);
    return callback(error, pushed, ...rest);
  };
}

/** Returns a function that notes the first names it takes: a head may be sent through several methods. */
export function once(note: Stripping["note"]): Stripping["note"] {
  let isNoted = false;
  return (names) => {
    if (!isNoted) note(names);
    isNoted = true;
  };
}
