/** The agent for disks of the Kubernetes example, on a node whose kernel has no network block devices. */
import { closeSync, existsSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
import { DiskStore } from "@hedgerow/snapshot";
import { afterAll, beforeAll, expect, test } from "vitest";

import { ask, ExampleProgram } from "../support/kubernetes/program.js";
import { temporaryFolder } from "../support/snapshots/folder.js";

const SIZE = 2 ** 20;

const path = temporaryFolder();
let store: DiskStore;

beforeAll(async () => {
  store = await DiskStore.open(path("store"), { images: path("images") });
  for (const name of ["alice", "bob"]) await store.create(name, { size: SIZE });
});
afterAll(() => store?.close());

const start = () =>
  ExampleProgram.start(
    "disks.mjs",
    { STORE: path("store"), DATA: path("data"), SHARED: path("shared") },
    /listens at \S+/,
  );

const request = (method: string, disk: string) =>
  ask(path("shared", "agent.sock"), "", [method, `/disks/${disk}`]);

function write(file: string, text: string): void {
  const fd = openSync(file, "r+");
  writeSync(fd, text);
  closeSync(fd);
}

/** Returns what the last generation of a disk begins with. */
async function beginning(name: string): Promise<string> {
  const disk = await store.attach(name);
  try {
    return String(await disk.read(0, 5));
  } finally {
    await disk.detach({ save: false });
  }
}

test("a pod gets a disk as a file, and what it has written is saved", async () => {
  const agent = await start();
  try {
    const file = path("shared", "files", "alice");
    const [one, again] = await Promise.all([request("PUT", "alice"), request("PUT", "alice")]);
    expect(one).toEqual({ status: 200, body: { path: file, kind: "file" } });
    expect(again).toEqual(one);
    expect(statSync(file).size).toBe(SIZE);
    write(file, "alice");
    expect(await request("DELETE", "alice")).toEqual({ status: 200, body: {} });
    expect(existsSync(file)).toBe(false);
    expect(await beginning("alice")).toBe("alice");

    // An agent that ends saves all of its disks.
    for (const name of ["alice", "bob"]) {
      expect((await request("PUT", name)).status).toBe(200);
      write(path("shared", "files", name), `${name}!`);
    }
    agent.signal("SIGTERM");
    expect(await agent.ended).toBe(0);
    expect(await beginning("alice")).toBe("alice");
    expect(await beginning("bob")).toBe("bob!\0");
    expect(readdirSync(path("shared", "files"))).toEqual([]);
  } finally {
    await agent.close();
  }
});

test("names that are none, and disks that cannot be attached, are refused", async () => {
  const agent = await start();
  const disk = await store.attach("bob");
  try {
    const refusals = [
      ["GET", "alice", 404, "ERR_ROUTE"],
      ["PUT", "..", 404, "ERR_ROUTE"],
      ["PUT", "--steal", 404, "ERR_ROUTE"],
      ["PUT", "a/b", 404, "ERR_ROUTE"],
      ["PUT", "carol", 404, "ERR_NO_DISK"],
      ["PUT", "bob", 409, "ERR_ATTACHED"],
      ["DELETE", "alice", 404, "ERR_NO_DISK"],
    ] as const;
    for (const [method, name, status, code] of refusals) {
      const answer = await request(method, name);
      expect([name, answer.status, answer.body.error.code]).toEqual([name, status, code]);
    }
    expect(statSync(path("shared", "agent.sock")).mode & 0o777).toBe(0o600);
  } finally {
    await disk.detach({ save: false });
    await agent.close();
  }
});
