// A virtual machine in QEMU whose disk is an NBD server, and in which an agent (guest/agent) runs commands.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { accelerator } from "./accelerator.mjs";

/** The folder that guest/make.sh has made. */
const { SANDBOX_MACHINE = "machine" } = process.env;

const KERNEL = [
  ...["-kernel", join(SANDBOX_MACHINE, "vmlinuz"), "-initrd", join(SANDBOX_MACHINE, "initramfs")],
  ...["-append", "console=ttyS0 quiet panic=-1"],
];

/** The end of an answer of the agent. */
const END = /\0(\d+)\n/;

export class Machine {
  #process;
  #answers;
  /** Resolves with the exit code and the signal of QEMU. */
  exited;

  /**
   * Boots a machine.
   *
   * @param {string} socket where its disk is served
   * @param {string} log the file for what its kernel prints
   */
  static async boot(socket, log) {
    const machine = new Machine(await accelerator(KERNEL), socket, log);
    await machine.#answer();
    return machine;
  }

  /** @param {string} accelerator @param {string} socket @param {string} log */
  constructor(accelerator, socket, log) {
    const args = [
      // If this process is killed, the kernel kills the machine, too: its disk is gone.
      ...["--pdeathsig", "KILL", "qemu-system-x86_64", "-machine", `q35,accel=${accelerator}`],
      ...["-m", "256", "-no-reboot", "-nodefaults", "-nographic", ...KERNEL],
      ...["-drive", `file=nbd+unix:///?socket=${socket},format=raw,if=virtio`],
      // The first port is the kernel’s, the second one the agent’s.
      ...["-serial", `file:${log}`, "-serial", "stdio"],
    ];
    // In its own process group, so that Ctrl+C does not end it.
    this.#process = spawn("setpriv", args, { detached: true });
    this.#process.stderr.pipe(process.stderr);
    this.#process.stdin.on("error", () => {});
    this.exited = once(this.#process, "exit");
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
  }

  /** Ends the machine as a power failure would. */
  async kill() {
    this.#process.kill("SIGKILL");
    await this.exited;
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
