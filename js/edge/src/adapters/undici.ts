/** `hedgerow/undici`: an interceptor for undici 7 and 8. */
import type { Dispatcher } from "undici";

import { NOT_FOUND } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions, type Stripping } from "./adapter.js";
import { type Readable, readable, strippedFields } from "./fields.js";

export type { AdapterReport, HeaderRules, RefusalReport, StripReport } from "./adapter.js";

/** Options of the interceptor. */
export interface UndiciOptions extends AdapterOptions<Dispatcher.DispatchOptions> {}

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/**
 * Creates an interceptor that strips `headers` from outgoing requests and from received responses. A request
 * whose path does not exist is not sent, but answered with 404 and the text `Not Found`. If a rule matches
 * `connection`, a request whose `Connection` nominates a field meant for all recipients fails with
 * `ERR_CONNECTION_OPTION`.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` if an option is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as the constructor of `HeaderStripper`
 *
 * @example
 * ```ts
 * import { hedgerow } from "hedgerow/undici";
 * import { Agent } from "undici";
 *
 * const dispatcher = new Agent().compose(hedgerow({ headers: ["x-internal-*"] }));
 * ```
 */
export function hedgerow(options: UndiciOptions): Dispatcher.DispatcherComposeInterceptor {
  const { responses, passes, isDryRun, refusalOf } = readOptions("hedgerow/undici", options);

  return (dispatch) => (request, handler) => {
    let outgoing = request;
    const refusal = refusalOf(request, (requests) => {
      if (request.headers === undefined || request.headers === null) return;
      // Before stripping, which may throw: a dry run sends the request even then.
      const headers = readable(request.headers);
      if (headers !== request.headers) outgoing = { ...request, headers } as typeof request;
      const stripped = strippedFields(requests, headers, false);
      if (stripped !== headers) outgoing = { ...request, headers: stripped } as typeof request;
    });
    const isBad = refusal !== undefined;
    if (isBad && !isDryRun) throw refusal;
    const stripping = responses === undefined ? handler : strippingHandler(responses, handler);
    // undici refuses a handler that cannot be answered.
    const exists =
      isBad || !isAnswerable(handler) || (passes?.(request.method, request.path, outgoing) ?? true);
    if (exists === true) return dispatch(outgoing, stripping);
    if (exists === false) return answerNotFound(outgoing, handler);
    exists
      .then((resolved) =>
        resolved ? dispatch(outgoing, stripping) : answerNotFound(outgoing, handler),
      )
      .catch((error) => handler.onResponseError?.(new LocalController(handler), error));
    return true;
  };
}

/** The methods of handlers. If a method receives a head, the index of its argument with the fields. */
const METHODS: readonly [name: string, fields?: number][] = [
  ["onRequestStart"],
  ["onBodySent"],
  ["onRequestSent"],
  ["onRequestUpgrade", 2],
  ["onResponseStarted"],
  ["onResponseStart", 2],
  ["onResponseData"],
  ["onResponseEnd"],
  ["onResponseError"],
];

/**
 * Returns a handler that passes everything on except fields that the rules match. It lacks the methods that `handler`
 * lacks, by which undici recognises, and refuses, a handler for another version.
 */
function strippingHandler(stripping: Stripping, handler: Handler): Handler {
  const given = handler as Readonly<Record<string, unknown>>;
  const methods: Record<string, unknown> = {};
  for (const [name, at] of METHODS) {
    const method = given[name];
    if (typeof method !== "function") {
      methods[name] = method;
    } else if (at === undefined) {
      methods[name] = (...args: unknown[]) => method.apply(handler, args);
    } else {
      methods[name] = (...args: unknown[]) => {
        args[at] = strippedHead(stripping, args[0] as Controller, args[at] as Readable);
        return method.apply(handler, args);
      };
    }
  }
  return methods;
}

/** Strips the fields of a response, also as they were received, which undici 8 exposes. */
function strippedHead(stripping: Stripping, controller: Controller, fields: Readable): Readable {
  const raw = controller as { rawHeaders?: Readable | null };
  if (raw.rawHeaders) {
    const silent = { ...stripping, note() {} };
    raw.rawHeaders = strippedFields(silent, raw.rawHeaders, true);
  }
  return strippedFields(stripping, fields, true);
}

/** Returns whether a handler can be answered, and can receive an error, without undici. */
function isAnswerable({ onRequestStart, onResponseError }: Handler): boolean {
  return typeof onRequestStart === "function" && typeof onResponseError === "function";
}

/** Answers a request with 404 without sending it. */
function answerNotFound(request: Dispatcher.DispatchOptions, handler: Handler): boolean {
  const { body } = request as { body?: { destroy?: () => void } | null };
  body?.destroy?.();
  const controller = new LocalController(handler);
  const content = Buffer.from(NOT_FOUND);
  handler.onRequestStart?.(controller, {});
  if (controller.aborted) return true;
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "content-length": `${content.length}`,
  };
  controller.rawHeaders = Object.entries(headers).flatMap((field) =>
    field.map((text) => Buffer.from(text)),
  );
  handler.onResponseStart?.(controller, 404, headers, "Not Found");
  if (!controller.aborted && request.method !== "HEAD")
    handler.onResponseData?.(controller, content);
  if (!controller.aborted) handler.onResponseEnd?.(controller, {});
  return true;
}

/** The controller of a request that is answered without being sent. */
class LocalController implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** The fields of the response, which undici 8 reads here. */
  rawHeaders: Buffer[] = [];

  constructor(readonly handler: Handler) {}

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.handler.onResponseError?.(this, reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }
}
