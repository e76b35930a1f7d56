/** A worker that runs one case for each request, and answers with what went wrong, if anything. */
import { suites } from "../cases/index.js";

export default {
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const run = suites[searchParams.get("subject") ?? ""]?.[searchParams.get("promise") ?? ""];
    if (run === undefined) return new Response("no such case", { status: 404 });
    try {
      await run({ immutable: request.headers });
      return new Response("kept");
    } catch (error) {
      return new Response(error instanceof Error ? error.stack : String(error), { status: 500 });
    }
  },
};
