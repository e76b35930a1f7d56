// A thread that does not even begin.
import { isMainThread } from "node:worker_threads";

if (!isMainThread) throw new RangeError("out of everything");
