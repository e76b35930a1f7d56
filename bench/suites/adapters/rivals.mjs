// What a user would write in place of an adapter: a set of names and loops over the fields. Nothing but the exact names
// of the benchmark is stripped: no prefixes, no nominated fields, no other forms in which frameworks set fields.

/** @typedef {ReadonlySet<string>} Names in lower case */

/**
 * Middleware for Connect and Express.
 *
 * @param {Names} names
 * @returns {import("hedgerow/connect").ConnectMiddleware}
 */
export const middlewareOf = (names) => (request, response, next) => {
  stripIncoming(names, request);
  const writeHead = /** @type {(...args: unknown[]) => typeof response} */ (response.writeHead);
  response.writeHead = (/** @type {unknown[]} */ ...args) => {
    for (const name of response.getHeaderNames()) {
      if (names.has(name)) response.removeHeader(name);
    }
    const last = args.at(-1);
    if (typeof last === "object" && last !== null) args[args.length - 1] = without(names, last);
    return writeHead.apply(response, args);
  };
  next();
};

/**
 * Hooks of Fastify.
 *
 * @param {Names} names
 * @param {import("fastify").FastifyInstance} app
 */
export function addHooks(names, app) {
  app.addHook("onRequest", (request, _reply, done) => {
    stripIncoming(names, request.raw);
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    for (const name of Object.keys(reply.getHeaders())) {
      if (names.has(name)) reply.removeHeader(name);
    }
    done(null, payload);
  });
}

/**
 * Middleware of Hono.
 *
 * @param {Names} names
 * @returns {import("hono").MiddlewareHandler}
 */
export const honoMiddlewareOf = (names) => async (c, next) => {
  stripHeaders(names, c.req.raw.headers);
  await next();
  stripHeaders(names, c.res.headers);
};

/** @typedef {import("undici").Dispatcher.DispatchHandler} Handler */

/**
 * An interceptor of undici, for fields in an object.
 *
 * @param {Names} names
 * @param {new (handler: Handler) => Handler} Forwarding a handler that forwards everything
 * @returns {import("undici").Dispatcher.DispatcherComposeInterceptor}
 */
export function interceptorOf(names, Forwarding) {
  class Stripping extends Forwarding {
    /** @override @type {NonNullable<Handler["onResponseStart"]>} */
    onResponseStart(controller, status, headers, message) {
      super.onResponseStart?.(controller, status, without(names, headers), message);
    }
  }
  return (dispatch) => (options, handler) => {
    const headers = without(names, /** @type {Record<string, string>} */ (options.headers ?? {}));
    return dispatch({ ...options, headers }, new Stripping(handler));
  };
}

/** @param {Names} names @param {import("node:http").IncomingMessage} request */
function stripIncoming(names, { headers, rawHeaders }) {
  for (const name of Object.keys(headers)) if (names.has(name)) delete headers[name];
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2) {
    if (names.has(rawHeaders[index]?.toLowerCase() ?? "")) rawHeaders.splice(index, 2);
  }
}

/** @param {Names} names @param {Headers} headers */
function stripHeaders(names, headers) {
  for (const name of [...headers.keys()]) if (names.has(name)) headers.delete(name);
}

/** @template {object} Fields @param {Names} names @param {Fields} fields @returns {Fields} a copy */
function without(names, fields) {
  const kept = /** @type {Fields} */ ({ ...fields });
  for (const name of /** @type {(keyof Fields & string)[]} */ (Object.keys(kept))) {
    if (names.has(name.toLowerCase())) delete kept[name];
  }
  return kept;
}
