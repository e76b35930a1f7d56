/** Disks whose servers and networks fail in each of the ways that restores are tested with. */
import { readFileSync } from "node:fs";
import { type Disk, type OpenOptions, openSnapshot } from "@hedgerow/snapshot";
import { describe, expect, test } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { fatal, recoverable, silent } from "../support/fault-tables.js";
import { image, OPTIONS, path, serve } from "../support/faulty.js";
import { expectNoConnections, SOON } from "../support/remote.js";

/** The length of a read. */
const LENGTH = 2 ** 18;

let count = 0;

/** Returns the path of a new image. */
function newImage(): string {
  count += 1;
  return path(`disk-${count}`);
}

/** Reads a whole disk, from its end to its start. */
async function readAll(disk: Disk): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let end = disk.size; end > 0; end -= LENGTH) {
    const start = Math.max(end - LENGTH, 0);
    parts.unshift(await disk.read(start, end - start));
  }
  return Buffer.concat(parts);
}

const fills = ["all", "none"] as const;

/** Returns the faults to try with a fill: all of them, or every fourth one. Restores are tried with all of them. */
const triedWith = <Fault>(fill: (typeof fills)[number], faults: readonly Fault[]) =>
  faults.filter((_, at) => (at + fills.indexOf(fill)) % trials({ few: 4, all: 1 }) === 0);

describe.each(fills)("with fill: %s", (fill) => {
  const tables = [
    ...Object.entries(recoverable).map(([name, faults]) => ({ name, faults, timeouts: {} })),
    ...Object.entries(silent).map(([name, faults]) => ({ name, faults, timeouts: SOON })),
  ];

  test.each(triedWith(fill, tables))(
    "reads everything despite $name",
    async ({ faults, timeouts }) => {
      const origin = await serve({ faults: faults() });
      const target = newImage();
      const options: OpenOptions = { ...OPTIONS, fill, timeouts, trace: false, image: target };
      const disk = await openSnapshot(origin.url("/a.vhs"), options);
      try {
        expectSame(await readAll(disk), image);
        await disk.filled;
      } finally {
        await disk.close();
      }
      expectSame(readFileSync(target), image);
      await expectNoConnections(origin);
    },
  );

  const deadly = Object.entries(fatal).map(([name, fault]) => ({ name, fault }));

  test.each(triedWith(fill, deadly))("fails with $name, and goes on later", async ({ fault }) => {
    const { code = "ERR_SOURCE", timeouts = {} } = fault;
    let faults: Faults | undefined = fault.faults();
    const origin = await serve({ faults: (request) => faults?.(request) });
    const target = newImage();
    const options: OpenOptions = {
      ...{ ...OPTIONS, retries: 1, onStall: "error", fill, timeouts, trace: false, image: target },
    };
    const attempt = async () => {
      const disk = await openSnapshot(origin.url("/a.vhs"), options);
      await readAll(disk).finally(() => disk.close());
    };
    const { status, cause } = fault;
    expect(await rejectionOf(attempt())).toMatchObject({ code, status, ...(cause && { cause }) });

    faults = undefined;
    const disk = await openSnapshot(origin.url("/a.vhs"), options);
    try {
      expectSame(await readAll(disk), image);
    } finally {
      await disk.close();
    }
  });
});
