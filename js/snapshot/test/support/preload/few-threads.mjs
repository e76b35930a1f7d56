// Limits the process to two workers at a time.
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const { Worker } = threads;
let left = 2;

if (threads.isMainThread) {
  threads.Worker = class extends Worker {
    /** @param {ConstructorParameters<typeof Worker>} args */
    constructor(...args) {
      if (left === 0) throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" });
      left -= 1;
      super(...args);
      this.once("exit", () => {
        left += 1;
      });
    }
  };
  syncBuiltinESMExports();
}
