/** Random calls of hosts to a store of disks in a folder, against a model of it. */
import { test } from "vitest";

import { minutes, trials } from "../../../../tests/support/trials.js";
import { runAll } from "../support/store-sequences.js";

/** The first 40 make every call, and have every fault and deaths before and after most operations. */
const SEQUENCES = trials({ few: 40, all: 500 });

test(
  "a store in a folder loses no save and keeps nothing else, whichever hosts die and whatever fails",
  // All sequences take minutes.
  minutes({ all: 30 }),
  () => runAll("folder", 1, SEQUENCES),
);
