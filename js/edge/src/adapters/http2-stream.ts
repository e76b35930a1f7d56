/** Stripping of the heads that streams of Node's HTTP/2 servers send, including by their own API. */
import type { ServerHttp2Stream } from "node:http2";

import type { HeaderStripper } from "../headers/header-stripper.js";
import { namesOf, namesToStrip, valueAt, withoutNames } from "./fields.js";

type Given = Readonly<Record<string, unknown>> | readonly unknown[] | null | undefined;
type Method = (...args: unknown[]) => unknown;

/** Methods that send a head, and the index of their argument with the fields. The options follow it. */
const SENDERS = [
  ["respond", 0],
  ["respondWithFD", 1],
  ["respondWithFile", 1],
] as const;

/** Makes a stream strip its head, its push promises, and the heads of pushed streams. */
export function stripStream(stripper: HeaderStripper, stream: ServerHttp2Stream): void {
  const methods = stream as unknown as Record<string, Method>;
  for (const [name, at] of SENDERS) {
    const send = methods[name]!;
    methods[name] = (...args) => {
      args[at] = stripped(stripper, args[at] as Given);
      args[at + 1] = withStatCheck(stripper, args[at + 1] as Options);
      return send.apply(stream, args);
    };
  }
  const { pushStream } = methods;
  methods.pushStream = (fields, ...rest) => {
    const args = rest.map((argument) =>
      typeof argument === "function" ? withPushed(stripper, argument as Method) : argument,
    );
    return pushStream!.call(stream, stripped(stripper, fields as Given), ...args);
  };
}

function stripped(stripper: HeaderStripper, fields: Given): Given {
  if (typeof fields !== "object" || fields === null) return fields;
  const at = (index: number) => valueAt(fields, index);
  const names = namesToStrip(stripper, namesOf(fields), at, true);
  return withoutNames(fields, names);
}

type Options = { readonly statCheck?: unknown } | null | undefined;

/** Returns options whose `statCheck`, if there is one, cannot add fields that the rules match. */
function withStatCheck(stripper: HeaderStripper, options: Options): Options {
  const statCheck = options?.statCheck;
  if (typeof statCheck !== "function") return options;
  return {
    ...options,
    statCheck(this: unknown, stat: unknown, fields: Record<string, unknown>, ...rest: unknown[]) {
      const result = statCheck.call(this, stat, fields, ...rest);
      const kept = stripped(stripper, fields)!;
      for (const name of Object.keys(fields)) if (!Object.hasOwn(kept, name)) delete fields[name];
      return result;
    },
  };
}

/** Wraps a callback, so that the pushed stream it receives strips its heads. */
function withPushed(stripper: HeaderStripper, callback: Method): Method {
  return (error, pushed, ...rest) => {
    if (pushed) stripStream(stripper, pushed as ServerHttp2Stream);
    return callback(error, pushed, ...rest);
  };
}
