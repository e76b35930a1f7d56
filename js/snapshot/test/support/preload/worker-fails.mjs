// Makes workers fail to start.
import { isMainThread } from "node:worker_threads";

if (!isMainThread) throw new RangeError("out of everything");
