/** Responds with the header fields that a route receives. */
export function GET(request) {
  return Response.json(Object.fromEntries(request.headers));
}
