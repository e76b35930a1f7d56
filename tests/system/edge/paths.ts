/** Paths as clients write them: of what a deployment has, in forms that mean the same, and of what it has not. */
import type { Choices } from "../random.js";
import type { Deployment, SitePath } from "./site.js";

/** What scanners ask for. */
const SCANNED = ["/wp-login.php", "/.env", "/.git/config", "/admin", "/etc/passwd"] as const;

/** What is sent, and what it is about. */
export interface AskedPath {
  readonly sent: string;
  readonly path: SitePath;
}

export function presentPath(deployment: Deployment, choices: Choices): AskedPath {
  const path = choices.pick(deployment.present);
  return { sent: written(path, choices), path };
}

/** A path that no other one asks for, but for those of scanners. */
export function absentPath(deployment: Deployment, choices: Choices): AskedPath {
  for (;;) {
    const path = absentCandidate(choices.pick(deployment.present), choices);
    if (!deployment.has(path)) return { sent: written(path, choices), path };
  }
}

function absentCandidate(path: SitePath, choices: Choices): SitePath {
  const number = choices.below(2 ** 31);
  const slash = path.lastIndexOf("/");
  switch (choices.below(6)) {
    case 0:
      return choices.pick(SCANNED);
    case 1:
      return `${path}${number}`;
    case 2:
      return `${path}/${number}`;
    case 3:
      return `${path.slice(0, slash)}/${number}${path.slice(slash + 1)}`;
    case 4:
      return `${path.slice(0, slash + 1)}${path.slice(slash + 1).toUpperCase()}${number}`;
    default:
      return `/${number}${path}`;
  }
}

/** One of the ways in which a path can be written in a request. */
function written(path: SitePath, choices: Choices): string {
  const segments = path
    .slice(1)
    .split("/")
    .map((segment) => encoded(segment, choices));
  let text = "";
  for (const segment of segments) text += `${detour(choices)}/${segment}`;
  if (choices.chance(0.1)) text = `/..${text}`;
  if (choices.chance(0.1)) text += "/";
  if (choices.chance(0.2)) text += `?${choices.pick(["a=1", "/../x", "%2e%2e", "q=?", ""])}`;
  return text;
}

/** What leads back to where it began. */
function detour(choices: Choices): string {
  if (!choices.chance(0.15)) return "";
  return choices.pick(["/.", "/x/..", "/", "/%2e", "/y/%2E%2e"]);
}

/** Encodes what must be, and some of what need not be. */
function encoded(segment: string, choices: Choices): string {
  const all = encodeURIComponent(segment).match(/%..|./g) ?? [];
  return all
    .map((one) => {
      if (one.length > 1) return choices.chance(0.5) ? one.toLowerCase() : one;
      if (!choices.chance(0.1)) return one;
      return `%${one.charCodeAt(0).toString(16)}`;
    })
    .join("");
}
