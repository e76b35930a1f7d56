/** The proxy in front of the site: strips internal headers and answers 404 for paths that do not exist. */
import { preset } from "hedgerow";
import { hedgerow } from "hedgerow/next";
import { readPathFilterSync } from "hedgerow/node";

/** `next dev` renders pages on request, without a filter. */
const isBuilt = process.env.NODE_ENV === "production";

export const proxy = hedgerow({
  headers: {
    requests: ["x-internal-*", ...preset("next", "requests")],
    responses: ["x-internal-*", ...preset("next", "responses")],
  },
  paths: isBuilt ? readPathFilterSync("paths.filter") : () => true,
});
