/** A worker in front of an origin, with the rules of its bindings. */
import { hedgerow, type WorkersHandler, type WorkersOptions } from "hedgerow/workers";

let worker: WorkersHandler | undefined;

export default {
  fetch(request: Request, env: { OPTIONS: WorkersOptions }): unknown {
    worker ??= hedgerow(env.OPTIONS);
    return worker.fetch(request as never, env as never, undefined as never);
  },
};
