// An interceptor of undici that forwards everything: the minimum that every interceptor does.

/** @type {import("undici").Dispatcher.DispatcherComposeInterceptor} */
export const noOp = (dispatch) => (request, handler) => dispatch(request, new NoOpHandler(handler));

/** @typedef {import("undici").Dispatcher.DispatchHandler} Handler */

/** @implements {Handler} */
class NoOpHandler {
  #handler;

  /** @param {Handler} handler */
  constructor(handler) {
    this.#handler = handler;
  }

  /** @param {Parameters<NonNullable<Handler["onRequestStart"]>>} args */
  onRequestStart(...args) {
    this.#handler.onRequestStart?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onRequestUpgrade"]>>} args */
  onRequestUpgrade(...args) {
    this.#handler.onRequestUpgrade?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseStart"]>>} args */
  onResponseStart(...args) {
    this.#handler.onResponseStart?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseData"]>>} args */
  onResponseData(...args) {
    this.#handler.onResponseData?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseEnd"]>>} args */
  onResponseEnd(...args) {
    this.#handler.onResponseEnd?.(...args);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseError"]>>} args */
  onResponseError(...args) {
    this.#handler.onResponseError?.(...args);
  }
}
