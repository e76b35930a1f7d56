/** The handler behind the adapters in workerd. Its responses have internal fields. */

/** Options of the adapters. */
export const OPTIONS = {
  headers: ["x-internal-*", "x-debug"],
  paths: (path: string) => path !== "/absent",
};

/** A global of workerd that the repository's types do not declare. */
declare const WebSocketPair: new () => { 0: WebSocket; 1: WebSocket & { accept(): void } };

/** Opens a WebSocket that echoes messages together with the fields of the request. */
function openSocket({ headers }: Request): Response {
  const { 0: theirs, 1: ours } = new WebSocketPair();
  const arrived = [...headers.keys()].filter((name) => name.startsWith("x-")).join();
  ours.accept();
  ours.addEventListener("message", ({ data }) => ours.send(`${data}, with ${arrived}`));
  ours.addEventListener("close", () => ours.close());
  const fields = { "x-debug": "1", "x-kept": "1" };
  const init = { status: 101, headers: fields, webSocket: theirs };
  return new Response(null, init as ResponseInit);
}

export async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/socket") return openSocket(request);
  // Responses of fetch are immutable.
  if (pathname.startsWith("/origin/")) return fetch(request);
  if (pathname === "/redirect") return Response.redirect("http://localhost/elsewhere", 303);
  if (pathname === "/mirror") return new Response(request.body);
  const headers = new Headers({ "x-debug": "1", "x-internal-node": "a7", "x-kept": "1" });
  headers.append("set-cookie", "a=1");
  headers.append("set-cookie", "b=2");
  if (pathname === "/204") return new Response(null, { status: 204, headers });
  const shown = [...request.headers, ...request.clone().headers, request.headers.get("X-Debug")];
  return new Response(JSON.stringify({ shown, body: await request.text() }), { headers });
}
