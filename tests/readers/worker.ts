/** A worker that asks a filter for keys, and answers with a line for each: 1 or 0. */
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
