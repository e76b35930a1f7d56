/** The example that runs virtual machines whose disks persist, with QEMU and an S3 server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { DiskStore } from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { exampleFolder } from "../support/examples/run.js";
import { type S3Server, startS3 } from "../support/s3/server.js";
import { temporaryFolder } from "../support/snapshots/folder.js";

const EXAMPLE = exampleFolder("sandbox-vm");
const SCRIPT = `${EXAMPLE}src/sandbox.mjs`;
const MACHINE = inRoot("target/guest");

/** How long a machine may take to boot or to answer on a busy machine, in milliseconds. */
const PATIENCE = 60_000;

const path = temporaryFolder();
let s3: S3Server;
let env: NodeJS.ProcessEnv;
let store: DiskStore;

beforeAll(async () => {
  s3 = await startS3();
  const { endpoint, region, credentials } = s3;
  const place = `s3://${s3.bucket}/sandboxes`;
  env = {
    ...process.env,
    SANDBOX_STORE: place,
    SANDBOX_MACHINE: MACHINE,
    // A machine with KVM does not boot everywhere that has /dev/kvm.
    SANDBOX_ACCELERATOR: "tcg",
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_REGION: region,
    AWS_ENDPOINT_URL_S3: endpoint.href,
  };
  store = await DiskStore.open(place, { s3: { endpoint, region, credentials } });
  expect(await sandbox("one", "create", "debian", `${MACHINE}/debian.img`).ended).toBe(0);
});
afterAll(async () => {
  await store?.close();
  await s3?.close();
});

/** The example in its own process, on one of the hosts: each has its own folder. */
class Sandbox {
  /** The text that it has printed on its standard output, and on both streams. */
  output = "";
  printed = "";
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(host: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
    mkdirSync(path(host), { recursive: true });
    const options = { cwd: path(host), env: { ...env, ...more } };
    this.#child = spawn(process.execPath, [SCRIPT, ...args], options);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (text) => {
        this.printed += text;
      });
    this.#child.stdout?.on("data", (text) => {
      this.output += text;
    });
    this.ended = once(this.#child, "close").then(([code]) => code);
  }

  /** Sends lines. */
  type(...lines: string[]): void {
    for (const line of lines) this.#child.stdin?.write(`${line}\n`);
  }

  /** Waits until a text is printed. */
  async prints(text: string): Promise<void> {
    await expect.poll(() => this.printed, { timeout: PATIENCE, interval: 20 }).toContain(text);
  }

  /** Ends its input, and returns its standard output when it has ended. */
  async stop(): Promise<string> {
    this.#child.stdin?.end();
    expect(await this.ended, this.printed).toBe(0);
    return this.output;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The number of the process of QEMU. */
  get machine(): number {
    const { pid } = this.#child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"));
  }
}

/** Starts the example. It ends with the test at the latest. */
function sandbox(host: string, ...args: string[]): Sandbox {
  return new Sandbox(host, args);
}

/** Runs commands in a sandbox, stops it, and returns what they have printed. */
function runIn(host: string, name: string, ...commands: string[]): Promise<string> {
  const running = sandbox(host, "run", name);
  running.type(...commands);
  return running.stop();
}

/** Starts a sandbox, and waits until it has booted. */
async function boot(host: string, args: readonly string[], more = {}): Promise<Sandbox> {
  const running = new Sandbox(host, ["run", ...args], more);
  onTestFinished(() => running.kill("SIGKILL"));
  await running.prints("has booted");
  return running;
}

/** Returns what `cat note` prints in a sandbox. */
const noteIn = (host: string, name: string) => runIn(host, name, "cat note");

const numberOf = async (name: string) => (await store.stat(name)).last.number;

test("a stopped sandbox resumes on another host with its files, and a fork diverges from it", async () => {
  await store.fork("debian", "alice");
  await runIn("one", "alice", "echo note: of alice > note");
  expect(await sandbox("two", "pull", "debian").ended).toBe(0);
  const { digest } = (await store.stat("debian")).last;
  expect(readdirSync(path("two", "host", "cache", "images"))).toContain(`${digest}.record`);
  expect(await noteIn("two", "alice")).toBe("note: of alice\n");

  expect(await sandbox("two", "fork", "alice", "bob").ended).toBe(0);
  const before = await runIn("two", "bob", "cat note", "echo note: of bob > note");
  expect(before).toBe("note: of alice\n");
  expect(await Promise.all([noteIn("one", "alice"), noteIn("one", "bob")])).toEqual([
    "note: of alice\n",
    "note: of bob\n",
  ]);
  const list = sandbox("one", "list");
  expect(await list.stop()).toBe("alice: stopped\nbob: stopped\ndebian: stopped\n");
});

test("a machine that is killed leaves the last save", async () => {
  await store.fork("debian", "carol");
  const running = await boot("one", ["carol"]);
  // Without `sync`: the hooks flush the file system.
  running.type("echo note: saved > note", ".save");
  await running.prints("saved as generation 2");
  running.type("echo note: lost > note; sync; echo written");
  await running.prints("written");
  process.kill(running.machine, "SIGKILL");
  expect(await running.ended).toBe(1);
  expect(running.printed).toContain("the machine has crashed");
  expect(await numberOf("carol")).toBe(2);

  const resumed = await boot("two", ["carol"]);
  resumed.type("cat note");
  await resumed.prints("note: saved");
  resumed.kill("SIGTERM");
  expect(await resumed.ended).toBe(0);
  expect(await numberOf("carol")).toBe(3);
});

test("a host that is killed leaves the last save of the running machine, and the rest can be salvaged", async () => {
  await store.fork("debian", "dave");
  const running = await boot("one", ["dave"], { SANDBOX_SAVE_EVERY: "1s" });
  running.type("echo note: saved > note; sync; echo written");
  await running.prints("written");
  running.type("while sleep 1; do date > clock; sync; done");
  // A save that is running now may lack the note. The one after it has it.
  const before = await numberOf("dave");
  const isSaved = async () => (await numberOf("dave")) > before + 1;
  await vi.waitUntil(isSaved, { timeout: PATIENCE, interval: 100 });
  const { machine } = running;
  process.kill(machine, 0);
  running.kill("SIGKILL");
  await running.ended;
  const isRunning = () => existsSync(`/proc/${machine}/fd`);
  await vi.waitUntil(() => !isRunning(), { timeout: PATIENCE, interval: 10 });

  const refused = sandbox("two", "run", "dave");
  expect(await refused.ended).toBe(1);
  expect(refused.printed).toContain("dave is attached by ");
  const thief = await boot("two", ["dave", "--steal"]);
  thief.type("cat note", "echo note: unsaved > note; sync; echo written");
  await thief.prints("written");
  expect(thief.printed).toContain("note: saved");

  // Taken again, while the host lives.
  const last = await boot("one", ["dave", "--steal"]);
  thief.type(".save");
  expect(await thief.ended).toBe(1);
  expect(thief.printed).toContain("nothing more can be saved under this name");
  expect(await sandbox("two", "salvage", "dave", "erin").ended).toBe(0);
  last.type("cat note");
  const [salvaged] = await Promise.all([noteIn("two", "erin"), last.stop()]);
  expect(last.printed).toContain("note: saved");
  expect(salvaged).toBe("note: unsaved\n");
});

test("explains invalid commands", async () => {
  for (const args of [[], ["restart", "alice"], ["toString", "alice"]]) {
    const wrong = sandbox("one", ...args);
    expect(await wrong.ended).toBe(1);
    expect(wrong.printed).toContain("create NAME IMAGE");
  }
  const missing = sandbox("one", "run", "nobody");
  expect(await missing.ended).toBe(1);
  expect(missing.printed).toContain("nobody");
});

describe("the accelerator", () => {
  test.each([
    ["kvm", "a machine ends with it", "exit 0"],
    ["tcg", "the host has no KVM", "exit 1"],
    ["tcg", "a machine hangs with it", "exec sleep 60"],
  ])("is %s if %s", async (expected, _, script) => {
    const qemu = path("bin", "qemu-system-x86_64");
    mkdirSync(path("bin"), { recursive: true });
    writeFileSync(qemu, `#!/bin/sh\n${script}\n`);
    chmodSync(qemu, 0o755);
    vi.stubEnv("PATH", `${path("bin")}:${process.env.PATH}`);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { accelerator } = await import("../../examples/sandbox-vm/src/accelerator.mjs");
    expect(await accelerator([])).toBe(expected);
  });
});
