/** Messages for the adapters' cases. */
import { PathSet } from "hedgerow";

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
