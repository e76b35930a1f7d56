/** An interceptor for the clients of undici 7 and 8: `hedgerow/undici`. */
import type { Dispatcher } from "undici";

import "../entries/instance.js";
import type { HeaderStripper } from "../headers/header-stripper.js";
import { NOT_FOUND } from "../paths/guard-paths.js";
import { type AdapterOptions, readOptions } from "./adapter.js";
import { type Fields, strippedFields } from "./fields.js";

export type { HeaderRules } from "./adapter.js";

/** What the interceptor is made with. */
export type UndiciOptions = AdapterOptions<Dispatcher.DispatchOptions>;

type Handler = Dispatcher.DispatchHandler;
type Controller = Omit<Dispatcher.DispatchController, "rawHeaders"> & {
  rawHeaders?: Fields | null;
};

/**
 * Strips `headers` from outgoing requests, and from what comes back before anybody sees it; where
 * `paths` say that nothing exists, nothing is sent, and the answer is 404 with a line of text.
 *
 * @throws {HedgerowError} `ERR_OPTIONS` for an option that is unknown, missing, or of the wrong type;
 * `ERR_HEADER_RULE` and `ERR_ARGUMENT` as `HeaderStripper` throws them
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
  const { requests, responses, passes } = readOptions("hedgerow/undici", options);

  return (dispatch) => (request, handler) => {
    const { headers } = request;
    const outgoing =
      requests === undefined || headers === undefined || headers === null
        ? request
        : ({ ...request, headers: strippedFields(requests, headers) } as typeof request);
    const stripping = responses === undefined ? handler : strippingHandler(responses, handler);
    const answer = passes?.(request.method, request.path, request) ?? true;
    if (answer === true) return dispatch(outgoing, stripping);
    if (answer === false) return answerNotFound(outgoing, handler);
    answer
      .then((exists) =>
        exists ? dispatch(outgoing, stripping) : answerNotFound(outgoing, handler),
      )
      .catch((error) => handler.onResponseError?.(new Idle(handler), error));
    return true;
  };
}

/** A handler that is told of everything, but of no field that the rules match. */
function strippingHandler(stripper: HeaderStripper, handler: Handler): Handler {
  type Received = Parameters<NonNullable<Handler["onResponseStart"]>>[2];
  const stripped = (controller: Controller, headers: Received) => {
    const { rawHeaders } = controller;
    if (rawHeaders) controller.rawHeaders = strippedFields(stripper, rawHeaders);
    return strippedFields(stripper, headers) as Received;
  };
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, stripped(controller, headers), socket),
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, stripped(controller, headers), message),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  };
}

/** Answers in the origin's place. */
function answerNotFound(request: Dispatcher.DispatchOptions, handler: Handler): boolean {
  const { body } = request as { body?: { destroy?: () => void } | null };
  body?.destroy?.();
  const controller = new Idle(handler);
  const content = Buffer.from(NOT_FOUND);
  handler.onRequestStart?.(controller, {});
  if (controller.aborted) return true;
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "content-length": `${content.length}`,
  };
  handler.onResponseStart?.(controller, 404, headers, "Not Found");
  if (!controller.aborted && request.method !== "HEAD")
    handler.onResponseData?.(controller, content);
  if (!controller.aborted) handler.onResponseEnd?.(controller, {});
  return true;
}

/** The controller of a request that nobody sends. */
class Idle implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;

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
