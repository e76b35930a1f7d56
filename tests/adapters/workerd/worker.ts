/** A worker of a class, of which the adapter shows all: it handles more than requests. */
import { hedgerow } from "hedgerow/workers";
import { answer, OPTIONS } from "./answer.js";

const told: string[] = [];

class Handler {
  fetch(request: Request): Response | Promise<Response> {
    return request.url.endsWith("/scheduled") ? Response.json(told) : answer(request);
  }

  scheduled({ cron }: { cron: string }): void {
    told.push(cron);
  }
}

export default hedgerow(OPTIONS, new Handler());
