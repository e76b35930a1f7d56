/** Stripping of the heads that streams of Node's HTTP/2 servers send, including by their own API. */
import type { ServerHttp2Stream } from "node:http2";

import type { Stripping } from "./adapter.js";
import { namesOf, namesToStrip, valuesOf, withoutNames } from "./fields.js";

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
 * @param noting sends and notes the head: that of the response if there is one
 */
export function stripStream(
  stripping: Stripping,
  stream: ServerHttp2Stream,
  noting = sender(stripping.note),
): void {
  const methods = stream as unknown as Record<string, Method | undefined>;
  for (const [name, at] of SENDERS) {
    const send = methods[name];
    // Platforms that emulate streams may lack methods, which callers look for.
    if (send === undefined) continue;
    methods[name] = (...args) => {
      const [fields, names] = stripped(stripping, args[at] as Given);
      args[at] = fields;
      args[at + 1] = withStatCheck(stripping, args[at + 1] as Options);
      return noting(names, () => send.apply(stream, args));
    };
  }
  const { pushStream } = methods;
  if (pushStream === undefined) return;
  methods.pushStream = (fields, ...rest) => {
    const args = rest.map((argument) =>
      typeof argument === "function" ? withPushed(stripping, argument as Method) : argument,
    );
    const [kept, names] = stripped(stripping, fields as Given);
    // A push promise is a separate message.
    return sender(stripping.note)(names, () => pushStream.call(stream, kept, ...args));
  };
}

/** Returns the fields that stay (in a dry run, all fields) and the names of the others. */
function stripped({ stripper, isDryRun }: Stripping, fields: Given): [Given, names: string[]] {
  if (typeof fields !== "object" || fields === null) return [fields, []];
  const names = namesToStrip(stripper, namesOf(fields), () => valuesOf(fields), true);
  return [isDryRun ? fields : withoutNames(fields, names), names];
}

type Options = { readonly statCheck?: unknown } | null | undefined;

/** Returns options whose `statCheck`, if there is one, cannot add fields that the rules match. */
function withStatCheck(stripping: Stripping, options: Options): Options {
  const statCheck = options?.statCheck;
  if (typeof statCheck !== "function" || stripping.isDryRun) return options;
  return {
    ...options,
    statCheck(this: unknown, stat: unknown, fields: Record<string, unknown>, ...rest: unknown[]) {
      const result = statCheck.call(this, stat, fields, ...rest);
      const [kept] = stripped(stripping, fields);
      for (const name of Object.keys(fields)) if (!Object.hasOwn(kept!, name)) delete fields[name];
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

/** Sends a head and returns the result, and notes the names stripped from it. */
export type Sender = <Result>(names: readonly string[], send: () => Result) => Result;

/**
 * Returns a sender for a head, which notes only the head of the outermost call, once it has been sent: a head may pass
 * through several methods, and may be sent again after one of them has thrown.
 */
export function sender(note: Stripping["note"]): Sender {
  let isNoted = false;
  return (names, send) => {
    if (isNoted) return send();
    isNoted = true;
    try {
      const result = send();
      note(names);
      return result;
    } catch (error) {
      isNoted = false;
      throw error;
    }
  };
}
