/** A guest in QEMU whose disk is served over NBD. */
import { expect, onTestFinished, test } from "vitest";

import { DiskProcess } from "../support/disk-process.js";
import { digest, origin, path, start } from "../support/guest-disk.js";

test("a guest whose server is killed goes on when it is back, with what it flushed", async () => {
  const socket = path("killed.sock");
  const serve = async () => {
    const options = { image: path("killed"), workers: 1 };
    const server = await DiskProcess.start(origin.url("/a.vhs").href, options, socket);
    onTestFinished(() => server.kill());
    return server;
  };
  let server = await serve();
  const guest = await start(socket, ",file.reconnect-delay=30");
  await guest.run("echo kept > /flushed; sync");
  await server.kill();
  // The guest reads missing data and writes while no server is running.
  const reads = guest.run("sha256sum /data; cat /data > /copy; sync; sha256sum /copy");
  server = await serve();
  expect((await reads).split(digest)).toHaveLength(3);
  expect(await guest.run("cat /flushed")).toContain("kept");
  await guest.powerOff();
  await server.close();
});
