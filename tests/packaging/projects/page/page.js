// Strips headers both ways and refuses absent paths in a page, and reports the responses in its title.
import { buildPathFilter, guardPaths, HeaderStripper, PathFilter } from "hedgerow";

const stripper = new HeaderStripper(["x-internal-*"]);
const guard = guardPaths({ paths: PathFilter.parse(buildPathFilter(["/known"])) });

/** Sends a request to the server of the page, as an application in front of it would. */
async function ask(path) {
  const request = new Request(path, { headers: { "x-internal-user": "forged", "x-kept": "kept" } });
  const refusal = await guard(request);
  if (refusal !== undefined) return { status: refusal.status };
  stripper.strip(request.headers);
  const response = await fetch(request);
  const headers = new Headers(response.headers);
  headers.append("set-cookie", "a=1");
  headers.append("set-cookie", "b=2");
  stripper.strip(headers);
  return {
    status: response.status,
    body: await response.json(),
    headers: Object.fromEntries(headers),
    cookies: headers.getSetCookie(),
  };
}

document.title = JSON.stringify({ known: await ask("/known"), unknown: await ask("/unknown") });
