// Guards the app, for clients that ask for it.
import { hedgerow } from "hedgerow/next";
import { readPathFilterSync } from "hedgerow/node";
import type { NextFetchEvent, NextRequest } from "next/server";

const guard = hedgerow({ paths: readPathFilterSync("paths.filter") });

export function proxy(request: NextRequest, event: NextFetchEvent) {
  return request.headers.has("x-guard") ? guard(request, event) : undefined;
}
