/** Random calls of hosts to a store of disks in a folder, against a model of it. */
import { test } from "vitest";

import { trials } from "../../../../tests/support/trials.js";
import { runAll } from "../support/store-sequences.js";

const SEQUENCES = trials({ few: 1_850, all: 3_000 });

test("a store in a folder loses no save and keeps nothing else, whichever hosts die and whatever fails", () =>
  runAll("folder", 1, SEQUENCES));
