// Responds with the header fields of the request.
export const runtime = "edge";

export function GET(request: Request): Response {
  const response = Response.json({ headers: Object.fromEntries(request.headers) });
  response.headers.append("set-cookie", "a=1");
  response.headers.append("set-cookie", "b=2");
  return response;
}
