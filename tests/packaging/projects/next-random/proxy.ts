// Passes every request on to an origin, by the rules that the first segment of its path chooses.
import { hedgerow } from "hedgerow/next";
import type { NextFetchEvent, NextRequest } from "next/server";

import deployment from "./deployment.json";

const proxies = deployment.rules.map((headers) => hedgerow({ headers }, passOn));

async function passOn(request: NextRequest): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const passed = new Request(new URL(pathname + search, deployment.origin), request);
  // These are for this hop, and Node's fetch refuses them.
  for (const name of ["connection", "transfer-encoding"]) passed.headers.delete(name);
  const answer = await fetch(passed, { redirect: "manual" });
  // Next.js adds fields to what sets cookies, and nobody may to what comes from `fetch`.
  return new Response(answer.body, answer);
}

export function proxy(request: NextRequest, event: NextFetchEvent) {
  const [, set] = /^\/set(\d)\//.exec(new URL(request.url).pathname) ?? [];
  return proxies[Number(set)]?.(request, event);
}
