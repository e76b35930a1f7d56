/** A worker that looks keys up in a filter, and responds with a line of 1 or 0 for each. */
import { PathFilter } from "hedgerow";

export default {
  async fetch(request: Request): Promise<Response> {
    const form = await request.formData();
    const file = form.get("file") as File;
    const keys = JSON.parse(form.get("keys") as string) as string[];
    const filter = PathFilter.parse(await file.arrayBuffer());
    const answers = keys.map((key) => (filter.has(key) ? "1\n" : "0\n")).join("");
    filter.free();
    return new Response(answers);
  },
};
