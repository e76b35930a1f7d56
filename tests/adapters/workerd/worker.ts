/** A worker whose handler is a class that handles other events, too. */
import { hedgerow } from "hedgerow/workers";
import { answer, OPTIONS } from "./answer.js";

const crons: string[] = [];

class Handler {
  fetch(request: Request): Response | Promise<Response> {
    return request.url.endsWith("/scheduled") ? Response.json(crons) : answer(request);
  }

  scheduled({ cron }: { cron: string }): void {
    crons.push(cron);
  }
}

export default hedgerow(OPTIONS, new Handler());
