// Strips headers both ways, and refuses absent paths.
import { buildPathFilter, PathFilter } from "hedgerow";
import { hedgerow } from "hedgerow/next";
import { NextResponse } from "next/server";

const options = {
  headers: ["x-internal-*"],
  paths: PathFilter.parse(buildPathFilter(["/known"])),
};

export const middleware = hedgerow(options, () => {
  const response = NextResponse.next();
  response.headers.set("x-internal-trace", "leaked");
  response.headers.set("x-proxy", "next-edge");
  return response;
});
