// A worker that strips headers both ways, and refuses paths that its filter lacks.
import { hedgerow, PathFilter } from "hedgerow/workers";
import file from "./paths.filter";

const options = { headers: ["x-internal-*"], paths: PathFilter.parse(new Uint8Array(file)) };

export default hedgerow(options, {
  fetch(request) {
    const response = Response.json({ headers: Object.fromEntries(request.headers) });
    response.headers.set("x-internal-trace", "leaked");
    response.headers.append("set-cookie", "a=1");
    response.headers.append("set-cookie", "b=2");
    return response;
  },
});
