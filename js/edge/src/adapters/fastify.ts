/** A plugin for Fastify 5: `hedgerow/fastify`. */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";

import "../entries/instance.js";
import { type AdapterOptions, readOptions } from "./adapter.js";
import { stripRequest, stripResponse } from "./node-messages.js";
import { answerBadRequest, isRefused } from "./refusal.js";

export type { HeaderRules } from "./adapter.js";

/** What the plugin is registered with. */
export interface FastifyOptions extends AdapterOptions<FastifyRequest> {
  /** Answers a request for what does not exist (default: `reply.callNotFound()`). */
  notFound?: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** What `register` adds to the options of a plugin, which are for Fastify. */
const OF_REGISTER = new Set(["prefix", "logLevel", "logSerializers"]);

/**
 * Strips `headers` from requests before any other hook of the application sees them, and from
 * responses when they are sent, whoever set them; answers as to an unknown route where `paths` say that
 * nothing exists. A request whose `Connection` nominates a field for all recipients is answered 400, and
 * its connection is closed. It holds for all of the application that registers it, not only for one context.
 * Fastify calls `frameworkErrors`, `rewriteUrl` and `genReqId` before any plugin.
 *
 * Registration fails with a `HedgerowError`: `ERR_OPTIONS` for an option that is unknown,
 * missing, or of the wrong type; `ERR_HEADER_RULE` and `ERR_ARGUMENT` as `HeaderStripper` throws them.
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
  // What `fastify-plugin` sets: hooks for those who register it, and a name in messages.
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "hedgerow",
  [Symbol.for("plugin-meta")]: { name: "hedgerow", fastify: "5.x" },
});

export default hedgerow;

async function addHooks(fastify: FastifyInstance, registered: FastifyOptions): Promise<void> {
  const own = Object.entries(registered ?? {}).filter(([name]) => !OF_REGISTER.has(name));
  const options: FastifyOptions = Object.fromEntries(own);
  const { requests, responses, passes } = readOptions("hedgerow/fastify", options, ["notFound"]);
  const { notFound = callNotFound } = options;

  fastify.addHook("onRequest", (request, reply, done) => {
    if (responses !== undefined) stripResponse(responses, reply.raw);
    if (requests !== undefined && isRefused(() => stripRequest(requests, request.raw))) {
      reply.hijack();
      return answerBadRequest(reply.raw);
    }
    // A request without a route is answered so anyhow.
    if (passes === undefined || request.is404) return done();
    const answer = passes(request.method, request.originalUrl, request);
    if (answer === true) return done();
    if (answer === false) return notFound(request, reply);
    answer.then((exists) => (exists ? done() : notFound(request, reply))).catch(done);
  });
}

function callNotFound(_request: FastifyRequest, reply: FastifyReply): void {
  reply.callNotFound();
}
