/**
 * The example `sandbox`, on hosts that each have their own folder, and a store in S3 that has the disk `debian`.
 * The store is there from before the tests of a file to after them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { DiskStore } from "@hedgerow/snapshot";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { run } from "../../../scripts/lib/run.mjs";
import { type S3Server, startS3 } from "../s3/server.js";
import { temporaryFolder } from "../snapshots/folder.js";
import { exampleFolder } from "./run.js";

const SCRIPT = `${exampleFolder("sandbox")}src/sandbox.mjs`;
const MACHINE = inRoot("target/guest");

const BIN = inRoot("js/cli/bin/hedgerow.js");

/** How long a machine may take to boot or to answer on a busy machine, in milliseconds. */
export const PATIENCE = 60_000;

export const path = temporaryFolder();

/** The store, and the options to read its files. */
export let store: DiskStore;
export let reading: { s3: Pick<S3Server, "endpoint" | "region" | "credentials"> };

let s3: S3Server;
let env: NodeJS.ProcessEnv;

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
  reading = { s3: { endpoint, region, credentials } };
  store = await DiskStore.open(place, reading);
  const image = path("debian.img");
  run(process.execPath, [
    BIN,
    "image",
    "create",
    `oci:${MACHINE}/image`,
    image,
    "--free",
    "256MiB",
  ]);
  expect(await sandbox("one", "create", "debian", image).ended).toBe(0);
});
afterAll(async () => {
  await store?.close();
  await s3?.close();
});

/** The example in its own process, on one of the hosts: each has its own folder. */
export class Sandbox {
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
  async prints(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.printed, { timeout: PATIENCE, interval: 20 }).toMatch(text);
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

  get pid(): number {
    return this.#child.pid as number;
  }

  /** The numbers of the process that serves the memory of the machine, and of QEMU. */
  get processes(): number[] {
    const [shell = 0, ...others] = childrenOf(this.pid);
    return [...childrenOf(shell), ...others];
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}

/** Starts the example. It ends with the test at the latest. */
export function sandbox(host: string, ...args: string[]): Sandbox {
  return new Sandbox(host, args);
}

/** Runs commands in a sandbox, stops it, and returns what they have printed. */
export function runIn(host: string, name: string, ...commands: string[]): Promise<string> {
  const running = sandbox(host, "run", name);
  running.type(...commands);
  return running.stop();
}

/** Starts a sandbox, and waits until it has booted or continues. */
export async function boot(host: string, args: readonly string[], more = {}): Promise<Sandbox> {
  const running = new Sandbox(host, ["run", ...args], more);
  onTestFinished(() => running.kill("SIGKILL"));
  await running.prints(/generation \d+ (has booted|continues)/);
  return running;
}

/** Returns what `cat note` prints in a sandbox. */
export const noteIn = (host: string, name: string) => runIn(host, name, "cat note");

export const numberOf = async (name: string) => (await store.stat(name)).last.number;
