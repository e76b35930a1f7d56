/** Request paths: present and absent ones, in equivalent spellings. */
import type { Choices } from "../random.js";
import type { Deployment, SitePath } from "./site.js";

/** Paths that vulnerability scanners request. */
const SCANNED = ["/wp-login.php", "/.env", "/.git/config", "/admin", "/etc/passwd"] as const;

/** A path as it is sent, and the decoded path that it stands for. */
export interface RequestPath {
  readonly sent: string;
  readonly path: SitePath;
}

export function presentPath(deployment: Deployment, choices: Choices): RequestPath {
  const path = choices.pick(deployment.present);
  return { sent: spelling(path, choices), path };
}

/** Returns an absent path. Except for those of scanners, it is requested once. */
export function absentPath(deployment: Deployment, choices: Choices): RequestPath {
  for (;;) {
    const path = absentCandidate(choices.pick(deployment.present), choices);
    if (!deployment.has(path)) return { sent: spelling(path, choices), path };
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

/** Returns one of the equivalent spellings of a path. */
function spelling(path: SitePath, choices: Choices): string {
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

/** Returns segments that normalization removes. */
function detour(choices: Choices): string {
  if (!choices.chance(0.15)) return "";
  return choices.pick(["/.", "/x/..", "/", "/%2e", "/y/%2E%2e"]);
}

/** Percent-encodes the characters that need it, and some of the others. */
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
