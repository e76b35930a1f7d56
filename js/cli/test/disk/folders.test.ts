/** The folders that commands look up in the environment, where it lacks them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";

import { BIN, ended, hedgerow } from "../support/bin.js";
import { attach, failure, json, withDisk } from "../support/disk-store.js";

afterEach(() => vi.unstubAllEnvs());

/** A user who is not in the password file. Each run of these tests has its own, and so its own files in /tmp. */
const USER = 100_000 + process.pid;

/** Starts the command as that user, with an empty /var/tmp. */
function startAsNobody(args: readonly string[], env: NodeJS.ProcessEnv) {
  const user = ["--user", `--map-user=${USER}`, `--map-group=${USER}`];
  const script = 'mount -t tmpfs tmpfs /var/tmp && exec unshare "$@"';
  const command = [...user, process.execPath, BIN, ...args];
  const { HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR, ...others } = process.env;
  const child = spawn("unshare", ["--mount", "sh", "-c", script, "sh", ...command], {
    env: { ...others, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test.for([{}, { HOME: "" }, { HOME: "/" }])(
  "works for a user without a home directory: %j",
  async (env) => {
    const { store, args } = await withDisk();
    const listed = await ended(startAsNobody(["disk", "list", store], env));
    expect(listed).toEqual({ code: 0, out: "alice\n", err: "" });
    const attached = startAsNobody(["disk", "attach", ...args, "--json"], env);
    const end = ended(attached);
    const [out] = await Promise.race([once(attached.stdout, "data"), end.then(({ err }) => [err])]);
    expect(JSON.parse(String(out)).path).toMatch(`/var/tmp/hedgerow-${USER}-disks/alice-`);
    attached.kill("SIGTERM");
    expect(await end).toMatchObject({ code: "SIGTERM", err: "" });
  },
);

test("reaches S3 as a user without a home directory", async () => {
  const key = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  const args = ["snapshot", "info", "s3://bucket/key", "--retries", "0"];
  const nowhere = { ...key, AWS_ENDPOINT_URL: "http://127.0.0.1:9" };
  const { err } = await ended(startAsNobody(args, nowhere));
  expect(err).toContain("ECONNREFUSED");
});

test("finds the process that has attached a disk, whatever TMPDIR and XDG_RUNTIME_DIR are", async () => {
  const { root, store, args, env } = await withDisk();
  mkdirSync(join(root, "tmp"));
  const service = { ...env, XDG_RUNTIME_DIR: join(root, "missing"), TMPDIR: join(root, "tmp") };
  const { stop } = await attach(args, service);
  expect(await json(["save", store, "alice", "--label", "x"], env)).toMatchObject({ number: 2 });
  await stop("SIGTERM");
  const { message } = await failure(["save", store, "alice"], env);
  expect(message).toContain("set XDG_RUNTIME_DIR to the same directory for both");
});

test("finds a process if other users may use another directory of control sockets", async () => {
  const { root, store, args, env } = await withDisk();
  const { stop } = await attach(args, env);
  const directory = join(root, `hedgerow-${process.getuid?.()}`);
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  vi.stubEnv("TMPDIR", root);
  expect(await json(["save", store, "alice", "--label", "x"], env)).toMatchObject({ number: 2 });
  await stop("SIGTERM");
});

test("attaches a disk if other users may use the directory of control sockets in /tmp", async () => {
  const { root, args } = await withDisk();
  const blocked = `/tmp/hedgerow-${USER}`;
  rmSync(blocked, { recursive: true, force: true });
  mkdirSync(blocked);
  chmodSync(blocked, 0o777);
  onTestFinished(() => rmSync(blocked, { recursive: true }));
  const attaching = [...["disk", "attach", ...args], "--images", join(root, "state"), "--json"];
  const { code, err } = await ended(startAsNobody(attaching, { TMPDIR: "/tmp" }));
  expect(code).toBe(3);
  expect(JSON.parse(err).error.message).toMatch(
    `set XDG_RUNTIME_DIR to a directory of this user: ${blocked}: expected a directory that only`,
  );
  const attached = startAsNobody(attaching, { TMPDIR: root });
  const end = ended(attached);
  await Promise.race([once(attached.stdout, "data"), end]);
  expect(readdirSync(join(root, `hedgerow-${USER}`))).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
  ]);
  attached.kill("SIGTERM");
  expect(await end).toMatchObject({ code: "SIGTERM", err: "" });
});

test("names the option and the variable that choose a folder which cannot be used", async () => {
  const { root, store, image, args, env } = await withDisk();
  const state = await failure(["attach", ...args], { ...env, XDG_STATE_HOME: image });
  expect(state).toMatchObject({ exit: 3, code: "ERR_TARGET" });
  expect(state.message).toMatch(/ENOTDIR: .*; pass --images, or set XDG_STATE_HOME, to choose/);
  const missing = join(root, "missing");
  vi.stubEnv("TMPDIR", missing);
  expect(await failure(["create", store, "bob", "--size", "1MiB"])).toMatchObject({
    ...{ exit: 3, code: "ERR_TARGET" },
    message: expect.stringContaining(`cannot make a temporary file in ${missing}, as TMPDIR says`),
  });
  const folder = `cannot make a directory in ${missing}, as TMPDIR says`;
  const attach = ["attach", store, "alice", "--serve", "file", "--at", join(root, "at")];
  for (const command of [["mount", image, root], attach]) {
    expect(await failure(command, env)).toMatchObject({
      ...{ exit: 3, code: "ERR_OUTPUT" },
      message: expect.stringContaining(folder),
    });
  }
  const { code, err } = await hedgerow(["image", "create", root, "http://127.0.0.1:1/image.vhs"]);
  expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining(folder) });
});
