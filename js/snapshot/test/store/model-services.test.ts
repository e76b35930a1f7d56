/** Random calls of hosts to a store of disks in S3, and of processes, against a model of it. */
import { test } from "vitest";

import { trials } from "../../../../tests/support/trials.js";
import { runAll } from "../support/store-sequences.js";

const SEQUENCES = trials({ few: 150, all: 300 });
const KILLS = trials({ few: 40, all: 80 });

test("a store in S3 loses no save and keeps nothing else, whichever hosts die and whatever fails", () =>
  runAll("S3", 100_001, SEQUENCES));

test("a store loses no save and keeps nothing else, whichever processes are killed", () =>
  runAll("processes", 200_001, KILLS));
