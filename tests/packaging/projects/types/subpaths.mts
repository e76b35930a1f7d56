// Uses an export of every subpath, to resolve and check its types.
import { createSnapshot, SnapshotError } from "@hedgerow/snapshot";
import { observeCache } from "@hedgerow/snapshot/opentelemetry";
import { buildPathFilter, HeaderStripper, PathFilter } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import block from "hedgerow/block.wasm";
import build from "hedgerow/build.wasm";
import { hedgerow as connect, stripRequest } from "hedgerow/connect";
import plugin, { hedgerow as fastify } from "hedgerow/fastify";
import { hedgerow as hono } from "hedgerow/hono";
import { hedgerow as next } from "hedgerow/next";
import { readPathFilterSync } from "hedgerow/node";
import { observeEdge } from "hedgerow/opentelemetry";
import pathsModule from "hedgerow/paths.wasm";
import { instantiate } from "hedgerow/slim";
import { hedgerow as undici } from "hedgerow/undici";
import { hedgerow as workers } from "hedgerow/workers";

instantiate({ paths: pathsModule, block });
const building: WebAssembly.Module = build;

const headers = new HeaderStripper(["x-internal-*"]);
const paths: PathFilter = PathFilter.parse(buildPathFilter(["/known"]));
const options = { headers, paths };

export const adapters = {
  connect: connect(options),
  fastify: fastify === plugin,
  hono: hono(options),
  next: next(options),
  undici: undici(options),
  workers: workers(options, { fetch: (request: Request) => new Response(request.url) }),
};

export const others = {
  building,
  createSnapshot,
  observeCache,
  observeEdge,
  readPathFilterSync,
  SnapshotError,
  stripBlock,
  stripRequest,
};

// @ts-expect-error: the option has the wrong type
connect({ headers: 7 });
