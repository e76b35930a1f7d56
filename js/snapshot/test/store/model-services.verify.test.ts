/** Random calls of hosts to a store of disks in S3, and of processes, against a model of it. */
import { test } from "vitest";

import { minutes, trials } from "../../../../tests/support/trials.js";
import { runAll } from "../support/store-sequences.js";

/**
 * A few sequences that together make every call, with and without faults, in which hosts die during calls and between
 * them, and leave changes that others recover. Each takes about a second.
 */
const IN_S3 = [100_010, 100_013, 100_016, 100_019, 100_026, 100_032];

/** The same of processes, in folders and in S3. */
const OF_PROCESSES = [200_009, 200_012, 200_014, 200_016];

const SEQUENCES = trials({ few: IN_S3.length, all: 80 });
const KILLS = trials({ few: OF_PROCESSES.length, all: 50 });

test(
  "a store in S3 loses no save and keeps nothing else, whichever hosts die and whatever fails",
  // All sequences take minutes.
  minutes({ few: 2, all: 30 }),
  () => runAll("S3", 100_001, SEQUENCES, IN_S3),
);

test(
  "a store loses no save and keeps nothing else, whichever processes are killed",
  // All sequences take minutes.
  minutes({ few: 2, all: 15 }),
  () => runAll("processes", 200_001, KILLS, OF_PROCESSES),
);
