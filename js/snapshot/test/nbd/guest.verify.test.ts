/** A guest in QEMU boots from a disk over NBD, and another guest boots from the save of the first one. */
import { createHash } from "node:crypto";
import { openSnapshot } from "@hedgerow/snapshot";
import { expect, onTestFinished, test } from "vitest";

import { data, digest, origin, path, start } from "../support/guest-disk.js";

test("a guest boots from a disk that is being filled, and from what it saved", async () => {
  const first = await openSnapshot(origin.url("/a.vhs"), { image: path("first"), workers: 1 });
  onTestFinished(() => first.close());
  await first.listen({ path: path("first.sock") });
  const guest = await start(path("first.sock"));
  expect(await guest.run("sha256sum /data")).toContain(digest);
  await guest.run("cat /data /data > /copy");
  await guest.powerOff();
  await first.save(path("b.vhs"));

  const second = await openSnapshot(path("b.vhs"), {
    ...{ image: path("second"), workers: 1 },
    resolve: () => path("a.vhs"),
  });
  onTestFinished(() => second.close());
  await second.listen({ path: path("second.sock") });
  const resumed = await start(path("second.sock"));
  const copy = createHash("sha256").update(data).update(data).digest("hex");
  expect(await resumed.run("sha256sum /copy")).toContain(copy);
});
