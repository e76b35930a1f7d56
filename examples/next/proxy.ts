/** What stands before all of the site: no internal header gets in, and no path that cannot exist. */
import { preset } from "hedgerow";
import { hedgerow } from "hedgerow/next";
import { readPathFilterSync } from "hedgerow/node";

/** `next dev` makes pages when they are asked for, of what there is by then. */
const isBuilt = process.env.NODE_ENV === "production";

export const proxy = hedgerow({
  headers: {
    requests: ["x-internal-*", ...preset("next", "requests")],
    responses: ["x-internal-*", ...preset("next", "responses")],
  },
  paths: isBuilt ? readPathFilterSync("paths.filter") : () => true,
});
