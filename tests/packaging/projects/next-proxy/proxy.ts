// Guards the app. Requests below `/set0/`, `/set1/` and so on go to the origin that `ORIGIN` names
// instead, under the rule set of that index.
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

const forwarding = deployment.rules.map((headers) => hedgerow({ headers }, forward));

async function forward(request: NextRequest): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const forwarded = new Request(new URL(pathname + search, process.env.ORIGIN), request);
  // Hop-by-hop fields, which Node's fetch refuses.
  for (const name of ["connection", "transfer-encoding"]) forwarded.headers.delete(name);
  const answer = await fetch(forwarded, { redirect: "manual" });
  // Next.js adds fields to responses that set cookies, and those of `fetch` are immutable.
  return new Response(answer.body, answer);
}

export function proxy(request: NextRequest, event: NextFetchEvent) {
  const [, set] = /^\/set(\d)\//.exec(new URL(request.url).pathname) ?? [];
  const chosen = set === undefined ? guard : forwarding[Number(set)];
  return chosen?.(request, event);
}
