/** Messages for the adapters' cases. */
import { PathSet } from "hedgerow";
import type { AdapterReport } from "hedgerow/workers";

export const RULES = ["x-internal-*"];
export const PATHS = new PathSet(["/about", "/blog/*"]);

/** Returns a request with a forged internal field. */
export const forged = (path: string) =>
  new Request(`http://localhost${path}`, {
    headers: { accept: "*/*", "X-Internal-User": "root", "x-public": "1" },
  });

/** Responds with the names of the received fields, and with fields of which one is internal. */
export function echo({ headers }: Request): Response {
  const names = [...headers.keys()].filter((name) => !name.startsWith("content-"));
  const response = new Response(JSON.stringify(names), {
    headers: { "x-internal-node": "a7", "x-public": "2" },
  });
  response.headers.append("set-cookie", "a=1");
  response.headers.append("set-cookie", "b=2");
  return response;
}

/** Returns the parts of an {@link echo} response that reached the sender. Browsers do not allow cookies. */
export async function received(response: Response) {
  const names = [...response.headers.keys()].filter((name) => name.startsWith("x-"));
  const cookies = response.headers.getSetCookie();
  return { status: response.status, seen: await response.json(), sent: names, cookies };
}

/** Returns what {@link received} returns of a stripped response. */
export const stripped = () => ({
  status: 200,
  seen: ["accept", "x-public"],
  sent: ["x-public"],
  // As many as the runtime allows in a response.
  cookies: echo(forged("/")).headers.getSetCookie(),
});

/** Returns options that collect reports, and the reports as text. */
export function reporting<Options extends object>(options: Options) {
  const reports: string[] = [];
  const report = (given: AdapterReport) => {
    const { kind, direction, names = [], path } = given;
    reports.push([kind, direction, path ?? names.join()].join(" "));
  };
  return { reports, options: { ...options, report } };
}

/** The reports of an exchange for a path that {@link PATHS} does not have, in a dry run. */
export const ROLLOUT_REPORTS = [
  "strip requests x-internal-user",
  "refuse requests /wp-login.php",
  "strip responses x-internal-node",
];
