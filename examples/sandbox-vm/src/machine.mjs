// A virtual machine in QEMU whose disk is a socket of vhost-user-blk, and in which an agent (guest/agent) runs commands.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { accelerator } from "./accelerator.mjs";

/** The folder that guest/make.sh has made. */
const { SANDBOX_MACHINE = "machine" } = process.env;

const KERNEL = [
  ...["-kernel", join(SANDBOX_MACHINE, "vmlinuz"), "-initrd", join(SANDBOX_MACHINE, "initramfs")],
  ...["-append", "console=ttyS0 quiet panic=-1"],
];

/** If this process is killed, the kernel kills its programs, too: their disk is gone. */
const BOUND = ["--pdeathsig", "KILL"];

/** The end of an answer of the agent. */
const END = /\0(\d+)\n/;

export class Machine {
  #process;
  #daemon;
  #answers;
  /** Resolves with the exit code and the signal of QEMU. */
  exited;

  /**
   * Boots a machine.
   *
   * @param {string} nbd the socket at which its disk is served
   * @param {string} log the file for what its kernel prints
   */
  static async boot(nbd, log) {
    const socket = `${nbd}.vhost`;
    const daemon = startDaemon(nbd, socket);
    while (!existsSync(socket)) {
      if (daemon.exitCode !== null) throw new Error("qemu-storage-daemon has failed");
      await delay(5);
    }
    const machine = new Machine(await accelerator(KERNEL), daemon, socket, log);
    await machine.#answer();
    return machine;
  }

  /**
   * @param {string} accelerator
   * @param {import("node:child_process").ChildProcess} daemon
   * @param {string} socket
   * @param {string} log
   */
  constructor(accelerator, daemon, socket, log) {
    const args = [
      ...[...BOUND, "qemu-system-x86_64", "-machine", `q35,accel=${accelerator}`],
      ...["-m", "256", "-no-reboot", "-nodefaults", "-nographic", ...KERNEL],
      // The daemon reads and writes the memory of the machine.
      ...["-object", "memory-backend-memfd,id=memory,size=256M,share=on"],
      ...["-machine", "memory-backend=memory", "-chardev", `socket,id=disk,path=${socket}`],
      ...["-device", "vhost-user-blk-pci,chardev=disk"],
      // The first port is the kernel’s, the second one the agent’s.
      ...["-serial", `file:${log}`, "-serial", "stdio"],
    ];
    // In its own process group, so that Ctrl+C does not end it.
    this.#process = spawn("setpriv", args, { detached: true });
    this.#process.stderr.pipe(process.stderr);
    this.#process.stdin.on("error", () => {});
    this.#daemon = daemon;
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

  /** Ends the daemon, which writes what it has to the disk. */
  async #endDaemon() {
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
