// Guards the app. What is below `/set0/`, `/set1/` and so on goes to an origin instead, by rules of its own.
import { buildPathFilter, PathFilter } from "hedgerow";
import { hedgerow } from "hedgerow/next";
import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server";

import deployment from "./deployment.json";

const options = {
  headers: ["x-internal-*"],
  paths: PathFilter.parse(buildPathFilter(["/known"])),
};

const guard = hedgerow(options, () => {
  const response = NextResponse.next();
  response.headers.set("x-internal-trace", "leaked");
  response.headers.set("x-proxy", "next-proxy");
  return response;
});

const passing = deployment.rules.map((headers) => hedgerow({ headers }, passOn));

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
  const chosen = set === undefined ? guard : passing[Number(set)];
  return chosen?.(request, event);
}
