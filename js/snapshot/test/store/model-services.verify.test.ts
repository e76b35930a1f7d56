/** Random calls of hosts to a store of disks in services, and of processes, against a model of it. */
import { test } from "vitest";

import { minutes, trials } from "../../../../tests/support/trials.js";
import { runAll } from "../support/store-sequences.js";

/**
 * A few sequences that together make every call, with and without faults, in which hosts die during calls and between
 * them, and leave changes that others recover. Each takes about a second.
 */
const IN_SERVICES = [100_010, 100_013, 100_016, 100_019, 100_026, 100_032];

/** The same of processes, in folders and in S3. */
const OF_PROCESSES = [200_009, 200_012, 200_014, 200_016];

const SEQUENCES = {
  versitygw: trials({ few: IN_SERVICES.length, all: 40 }),
  Azurite: trials({ few: IN_SERVICES.length, all: 20 }),
  "fake-gcs-server": trials({ few: IN_SERVICES.length, all: 20 }),
};
const KILLS = trials({ few: OF_PROCESSES.length, all: 50 });

test.each(Object.entries(SEQUENCES) as [keyof typeof SEQUENCES, number][])(
  "a store in %s loses no save and keeps nothing else, whichever hosts die and whatever fails",
  // All sequences take minutes.
  minutes({ few: 2, all: 30 }),
  (server, count) => runAll(server, 100_001, count, IN_SERVICES),
);

test(
  "a store loses no save and keeps nothing else, whichever processes are killed",
  // All sequences take minutes.
  minutes({ few: 2, all: 15 }),
  () => runAll("processes", 200_001, KILLS, OF_PROCESSES),
);
