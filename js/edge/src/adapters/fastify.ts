/** `hedgerow/fastify`: a plugin for Fastify 5. */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";

import { type AdapterOptions, readOptions } from "./adapter.js";
import { encodedTarget, sendBadRequest, stripIncoming, stripOutgoing } from "./node-messages.js";

export type { AdapterReport, HeaderRules, RefusalReport, StripReport } from "./adapter.js";

/** Options of the plugin. */
export interface FastifyOptions extends AdapterOptions<FastifyRequest> {
  /** Answers a request whose path does not exist. Default: calls `reply.callNotFound()`. */
  notFound?: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Options of `register` itself, which Fastify passes on to plugins. */
const REGISTER_OPTIONS = new Set(["prefix", "logLevel", "logSerializers"]);

/**
 * A plugin that strips `headers` and answers requests whose path does not exist as an unknown route.
 *
 * Requests are stripped before other hooks see them, responses when their head is sent. If a rule matches
 * `connection`, a request whose `Connection` nominates a field meant for all recipients is answered with 400, and
 * its connection is closed. The plugin applies to the whole application, not only to one context. Fastify calls
 * `frameworkErrors`, `rewriteUrl`, `genReqId` and `childLoggerFactory` before it, and reads `requestIdHeader` and the
 * fields of route constraints.
 *
 * Registration fails with a `HedgerowError`: `ERR_OPTIONS` if an option is unknown, missing, or of the wrong
 * type; `ERR_HEADER_RULE` and `ERR_ARGUMENT` as the constructor of `HeaderStripper`.
 *
 * @example
 * ```ts
 * import Fastify from "fastify";
 * import { hedgerow } from "hedgerow/fastify";
 *
 * const app = Fastify();
 * await app.register(hedgerow, { headers: ["x-internal-*"] });
 * ```
 */
export const hedgerow: FastifyPluginAsync<FastifyOptions> = Object.assign(addHooks, {
  // As `fastify-plugin` sets them: apply the hooks to the parent context, and name the plugin.
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "hedgerow",
  [Symbol.for("plugin-meta")]: { name: "hedgerow", fastify: "5.x" },
});

export default hedgerow;

async function addHooks(fastify: FastifyInstance, registered: FastifyOptions): Promise<void> {
  const options: Record<string, unknown> & FastifyOptions = Object.create(null);
  // `for…in` because inherited options take effect, too.
  for (const name in registered) {
    if (!REGISTER_OPTIONS.has(name)) options[name] = registered[name as keyof FastifyOptions];
  }
  const { responses, passes, isDryRun, refusalOf } = readOptions("hedgerow/fastify", options, [
    "notFound",
  ]);
  const { notFound = callNotFound } = options;

  fastify.addHook("onRequest", (request, reply, done) => {
    if (responses !== undefined) stripOutgoing(responses, reply.raw);
    if (refusalOf(request, (requests) => stripIncoming(requests, request.raw)) !== undefined) {
      if (isDryRun) return done();
      reply.hijack();
      return sendBadRequest(reply.raw);
    }
    // Fastify answers a request without a route in the same way.
    if (passes === undefined || request.is404) return done();
    const exists = passes(request.method, encodedTarget(request.originalUrl), request);
    if (exists === true) return done();
    if (exists === false) return notFound(request, reply);
    exists.then((resolved) => (resolved ? done() : notFound(request, reply))).catch(done);
  });
}

function callNotFound(_request: FastifyRequest, reply: FastifyReply): void {
  reply.callNotFound();
}
