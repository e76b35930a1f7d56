/** The header fields that a route sees. */
export function GET(request) {
  return Response.json(Object.fromEntries(request.headers));
}
