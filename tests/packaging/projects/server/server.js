// A Node server that strips headers both ways, and refuses absent paths.
import { createServer } from "node:http";
import { buildPathFilter, PathFilter } from "hedgerow";
import { hedgerow } from "hedgerow/connect";

const guard = hedgerow({
  headers: ["x-internal-*"],
  paths: PathFilter.parse(buildPathFilter(["/known"])),
});

const server = createServer((request, response) => {
  guard(request, response, () => {
    response.setHeader("x-internal-trace", "leaked");
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    response.end(JSON.stringify({ headers: request.headers }));
  });
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
