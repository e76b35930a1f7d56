// A virtual machine in QEMU, and in it an agent (guest/agent) that runs commands. Its disk is a socket of vhost-user-blk,
// and its memory a file, so that it can stop on one host and continue on another.
import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { accelerator } from "./accelerator.mjs";
import { Qmp } from "./qmp.mjs";

/** The folder that guest/make.sh has made. */
const { SANDBOX_MACHINE = "machine" } = process.env;

const VMLINUZ = join(SANDBOX_MACHINE, "vmlinuz");
const INITRAMFS = join(SANDBOX_MACHINE, "initramfs");

const KERNEL = [
  ...["-kernel", VMLINUZ, "-initrd", INITRAMFS],
  ...["-append", "console=ttyS0 quiet panic=-1"],
];

/** If this process is killed, the kernel kills its programs, too: their disk is gone. */
const BOUND = ["--pdeathsig", "KILL"];

/** The end of an answer of the agent. */
const END = /\0(\d+)\n/;

/**
 * Where a machine has its volumes.
 *
 * @typedef {{ nbd: string, memory: string, size: number, state: string, log: string, accelerator: string }} Places
 *   the socket of the disk, the file of the memory and its size in bytes, the file for the state of the devices, that for
 *   what the kernel prints, and the accelerator
 */

/** Returns what a machine that was suspended needs of a host: the state of the devices fits no other QEMU. */
export async function requirements() {
  const version = promisify(execFile)("qemu-system-x86_64", ["--version"]);
  const kernel = createHash("sha256");
  for (const file of [VMLINUZ, INITRAMFS]) kernel.update(await readFile(file));
  return {
    qemu: /version (\S+)/.exec((await version).stdout)?.[1],
    accelerator: await accelerator(KERNEL),
    kernel: kernel.digest("hex").slice(0, 16),
  };
}

export class Machine {
  #process;
  #daemon;
  #answers;
  #state;
  /** @type {Qmp | undefined} */
  #qmp;
  /** Resolves with the exit code and the signal of QEMU. */
  exited;

  /** Boots a machine. @param {Places} places */
  static async boot(places) {
    const machine = await Machine.#start(places, []);
    await machine.#answer();
    return machine;
  }

  /** Continues a machine that was suspended. Until this resolves, its volumes stay as they are. @param {Places} places */
  static async resume(places) {
    const machine = await Machine.#start(places, ["-incoming", "defer"]);
    try {
      await machine.#control.migrate("migrate-incoming", `exec:cat '${places.state}'`);
      await machine.#control.call("cont");
      // Its clock stood still, and a fork has the random numbers of its siblings.
      const seed = randomBytes(32).toString("hex");
      const now = Math.round(Date.now() / 1_000);
      await machine.run(`date -s @${now} >/dev/null; echo ${seed} >/dev/urandom`);
      return machine;
    } catch (error) {
      await machine.kill();
      throw error;
    }
  }

  /** @param {Places} places @param {string[]} more */
  static async #start(places, more) {
    const socket = `${places.nbd}.vhost`;
    const daemon = startDaemon(places.nbd, socket);
    while (!existsSync(socket)) {
      if (daemon.exitCode !== null) throw new Error("qemu-storage-daemon has failed");
      await delay(2);
    }
    const machine = new Machine(daemon, socket, places, more);
    machine.#qmp = await Qmp.connect(`${places.nbd}.qmp`, machine.exited);
    return machine;
  }

  /**
   * @param {import("node:child_process").ChildProcess} daemon
   * @param {string} socket
   * @param {Places} places
   * @param {string[]} more
   */
  constructor(daemon, socket, { nbd, memory, size, state, log, accelerator }, more) {
    const backend = `memory-backend-file,id=memory,size=${size},mem-path=${memory},share=on`;
    const args = [
      ...[...BOUND, "qemu-system-x86_64", "-machine", `q35,accel=${accelerator}`],
      ...["-no-reboot", "-nodefaults", "-nographic", ...KERNEL],
      // The daemon reads and writes the memory of the machine.
      ...["-object", backend, "-m", `${size / 2 ** 20}`, "-machine", "memory-backend=memory"],
      ...["-chardev", `socket,id=disk,path=${socket}`],
      ...["-device", "vhost-user-blk-pci,chardev=disk"],
      // Tells kernels with its driver that they continue, perhaps more than once: they need new random numbers.
      ...["-device", "vmgenid,guid=auto"],
      ...["-qmp", `unix:${nbd}.qmp,server=on,wait=off`],
      // The first port is the kernel’s, the second one the agent’s.
      ...["-chardev", `file,id=log,path=${log},append=on`, "-serial", "chardev:log"],
      ...["-serial", "stdio", ...more],
    ];
    // In its own process group, so that Ctrl+C does not end it.
    this.#process = spawn("setpriv", args, { detached: true });
    this.#process.stderr.pipe(process.stderr);
    this.#process.stdin.on("error", () => {});
    this.#daemon = daemon;
    this.#state = state;
    this.exited = once(this.#process, "exit");
    // Without its disk, a machine hangs.
    daemon.once("exit", () => this.#process.kill("SIGKILL"));
    this.#answers = answersIn(this.#process.stdout.setEncoding("utf8"));
  }

  /** Runs a command in the machine, after those before it. @param {string} command one line */
  run(command) {
    this.#process.stdin.write(`${command}\n`);
    return this.#answer();
  }

  /** Stops the machine, and stores the state of its devices. Its memory is then as it was at this moment. */
  async pause() {
    await this.#control.call("stop");
    await this.#control.migrate("migrate", `exec:cat > '${this.#state}'`);
  }

  /** Continues after {@link pause}. */
  async continue() {
    await this.#control.call("cont");
  }

  /** Turns the machine off. */
  async powerOff() {
    this.#process.stdin.write("sync; poweroff -f\n");
    const [code] = await this.exited;
    if (code !== 0) throw new Error("the machine has crashed");
    await this.#endDaemon();
  }

  /** Ends the machine as a power failure would. */
  async kill() {
    this.#process.kill("SIGKILL");
    await this.exited;
    await this.#endDaemon();
  }

  get #control() {
    if (this.#qmp === undefined) throw new Error("QEMU has not started");
    return this.#qmp;
  }

  /** Ends the daemon, which writes what it has to the disk. */
  async #endDaemon() {
    if (this.#qmp) await rm(this.#qmp.path, { force: true });
    if (this.#daemon.exitCode !== null || !this.#daemon.kill()) return;
    await once(this.#daemon, "exit");
  }

  async #answer() {
    const { value } = await this.#answers.next();
    if (!value) throw new Error("the machine has crashed");
    return value;
  }
}

/** Yields the answers of the agent. @param {AsyncIterable<string>} stream */
async function* answersIn(stream) {
  let text = "";
  for await (const chunk of stream) {
    text += chunk;
    for (let end = END.exec(text); end !== null; end = END.exec(text)) {
      yield { output: text.slice(0, end.index), code: Number(end[1]) };
      text = text.slice(end.index + end[0].length);
    }
  }
}

/** Starts the program that makes a socket of vhost-user-blk of an NBD export. @param {string} nbd @param {string} socket */
function startDaemon(nbd, socket) {
  const args = [
    ...[...BOUND, "qemu-storage-daemon"],
    ...["--blockdev", `driver=nbd,node-name=disk,server.type=unix,server.path=${nbd}`],
    "--export",
    `type=vhost-user-blk,id=disk,node-name=disk,addr.type=unix,addr.path=${socket},writable=on`,
  ];
  return spawn("setpriv", args, { detached: true, stdio: ["ignore", "ignore", "inherit"] });
}
