/** Snapshots and stores of disks in each service, in spite of what it does differently, or wrongly once. */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { checkStore, createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import {
  SERVERS,
  type ServerName,
  type ServiceServer,
} from "../../../../tests/support/services.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { type InjectFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { isDaysAhead, QUIRKS } from "../support/quirks.js";
import { refusalOf } from "../support/refusal.js";
import { expectUsable, namesIn, openStore } from "../support/stores.js";

const MIB = 2 ** 20;

const path = temporaryFolder();

describe.each(["versitygw", "Azurite", "fake-gcs-server"] satisfies ServerName[])("%s", (name) => {
  let server: ServiceServer;

  beforeAll(async () => {
    server = await SERVERS[name]();
    writeFileSync(path("image"), noise("image", 11 * MIB));
  });
  afterAll(() => server?.close());

  // AWS's client would sign with the time of the service, which checks it.
  const clock = name === "versitygw" ? {} : { "a clock that is days ahead": isDaysAhead };

  test.each(Object.entries({ ...QUIRKS, ...clock }))(
    "works in spite of %s",
    async (quirk, inject) => {
      const proxy = await startProxy(server.endpoint, inject(), {
        host: name === "fake-gcs-server",
      });
      onTestFinished(() => proxy[Symbol.asyncDispose]());
      const options = { workers: 1, partSize: 5 * MIB, ...server.through(proxy.endpoint) };
      const folder = `${server.bucket}/${quirk.replaceAll(/\W/g, "-")}`;

      await createSnapshot(path("image"), `${folder}/a.vhs`, options);
      await restoreSnapshot(`${folder}/a.vhs`, path("restored"), { ...options, overwrite: true });
      expectSame(readFileSync(path("restored")), readFileSync(path("image")));

      const { workers: _, ...access } = options;
      const store = await openStore(`${folder}/disks`, { images: path("images"), ...access });
      onTestFinished(() => store.close());
      await expectUsable(store);
      expect(await namesIn(store)).toEqual(["bob"]);
      await store.verify("bob");
      expect(proxy.requests.length).toBeGreaterThan(10);
    },
  );

  test("names a proxy that compresses ranges", async () => {
    const compress: InjectFault = ({ headers: { range } }) =>
      range === undefined
        ? undefined
        : { change: (body) => gzipSync(body), headers: { "content-encoding": "gzip" } };
    const host = name === "fake-gcs-server";
    await using proxy = await startProxy(server.endpoint, compress, { host });
    const options = { workers: 1, ...server.through(proxy.endpoint) };
    const source = `${server.bucket}/compressed.vhs`;
    await createSnapshot(path("image"), source, options);
    const restoring = restoreSnapshot(source, path("compressed"), options);
    expect((await refusalOf(restoring, "ERR_SOURCE")).message).toContain("encoded as gzip");
  });
});

test("works in a bucket that keeps versions, where removed objects leave delete markers", async () => {
  const server = await SERVERS.moto();
  onTestFinished(() => server.close());
  const at = (query: string) => `${server.endpoint.origin}/${new URL(server.bucket).host}?${query}`;
  const body = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
  expect((await fetch(at("versioning"), { method: "PUT", body })).ok).toBe(true);
  const { works } = await checkStore(`${server.bucket}/check`, server.options);
  expect(works).toEqual({ restore: true, create: true, disks: true });

  const store = await openStore(`${server.bucket}/disks`, {
    images: path("versions"),
    ...server.options,
  });
  onTestFinished(() => store.close());
  await expectUsable(store);
  await store.remove("bob");
  await refusalOf(store.attach("bob"), "ERR_NO_DISK");
  await store.create("bob", { size: MIB });
  await store.verify("bob");
  expect(await namesIn(store)).toEqual(["bob"]);
  expect(await (await fetch(at("versions"))).text()).toContain("DeleteMarker");
});
