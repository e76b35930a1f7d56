// Responds with the names of the fields of the request.
export function GET(request: Request): Response {
  return Response.json([...request.headers.keys()]);
}
