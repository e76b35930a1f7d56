/** What adapters are given in cases, and what can be seen of it behind them. */
import { PathSet } from "hedgerow";

export const RULES = ["x-internal-*"];
export const PATHS = new PathSet(["/about", "/blog/*"]);

/** A request whose sender claims to be internal. */
export const forged = (path: string) =>
  new Request(`http://localhost${path}`, {
    headers: { accept: "*/*", "X-Internal-User": "root", "x-public": "1" },
  });

/** Answers with the names of the fields that arrived, among fields of which one is internal. */
export function echo({ headers }: Request): Response {
  const names = [...headers.keys()].filter((name) => !name.startsWith("content-"));
  const response = new Response(JSON.stringify(names), {
    headers: { "x-internal-node": "a7", "x-public": "2" },
  });
  response.headers.append("set-cookie", "a=1");
  response.headers.append("set-cookie", "b=2");
  return response;
}

/** What of an answer of {@link echo} reaches the sender. Browsers let nobody set cookies. */
export async function shown(response: Response) {
  const names = [...response.headers.keys()].filter((name) => name.startsWith("x-"));
  const cookies = response.headers.getSetCookie();
  return { status: response.status, seen: await response.json(), sent: names, cookies };
}

/** What is {@link shown} of an answer that was stripped. */
export const stripped = () => ({
  status: 200,
  seen: ["accept", "x-public"],
  sent: ["x-public"],
  // As many as the runtime lets a response have.
  cookies: echo(forged("/")).headers.getSetCookie(),
});
