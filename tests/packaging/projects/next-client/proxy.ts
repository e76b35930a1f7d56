// Strips the internal fields of Next.js, if `ADAPTER` is set.
import { hedgerow, preset } from "hedgerow/next";
import type { NextFetchEvent, NextRequest } from "next/server";

const strip = hedgerow({
  headers: { requests: preset("next", "requests"), responses: preset("next", "responses") },
});

export function proxy(request: NextRequest, event: NextFetchEvent) {
  return process.env.ADAPTER ? strip(request, event) : undefined;
}
