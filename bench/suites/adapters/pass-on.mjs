// An interceptor of undici that does nothing but pass on what it is told, as every interceptor has to.

/** @type {import("undici").Dispatcher.DispatcherComposeInterceptor} */
export const passOn = (dispatch) => (request, handler) => dispatch(request, new PassOn(handler));

/** @typedef {import("undici").Dispatcher.DispatchHandler} Handler */

/** @implements {Handler} */
class PassOn {
  #handler;

  /** @param {Handler} handler */
  constructor(handler) {
    this.#handler = handler;
  }

  /** @param {Parameters<NonNullable<Handler["onRequestStart"]>>} told */
  onRequestStart(...told) {
    this.#handler.onRequestStart?.(...told);
  }

  /** @param {Parameters<NonNullable<Handler["onRequestUpgrade"]>>} told */
  onRequestUpgrade(...told) {
    this.#handler.onRequestUpgrade?.(...told);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseStart"]>>} told */
  onResponseStart(...told) {
    this.#handler.onResponseStart?.(...told);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseData"]>>} told */
  onResponseData(...told) {
    this.#handler.onResponseData?.(...told);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseEnd"]>>} told */
  onResponseEnd(...told) {
    this.#handler.onResponseEnd?.(...told);
  }

  /** @param {Parameters<NonNullable<Handler["onResponseError"]>>} told */
  onResponseError(...told) {
    this.#handler.onResponseError?.(...told);
  }
}
