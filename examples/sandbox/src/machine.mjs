// A virtual machine in QEMU, and in it an agent (guest/make.sh) that runs commands. Its disk is served over NBD, and its
// memory is a file, so that it can stop on one host and continue on another.
import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

/** The folder that guest/make.sh has made. */
const { SANDBOX_MACHINE = "machine" } = process.env;

const VMLINUZ = join(SANDBOX_MACHINE, "vmlinuz");
const INITRAMFS = join(SANDBOX_MACHINE, "initramfs");

const KERNEL = [
  ...["-kernel", VMLINUZ, "-initrd", INITRAMFS],
  ...["-append", "console=ttyS0 quiet panic=-1"],
];

/** How long a machine may take to write its files, in milliseconds. */
const SYNC_TIMEOUT = 10_000;

/** The end of an answer of an agent: the ID of the command, and its exit code. */
const END = /\0(\S+) (\d+)\n/;

/** The answer of an agent. @typedef {{ output: string, code: number }} Answer */

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

/** How long a machine without a disk may take with KVM, in milliseconds. On some hosts, machines hang with KVM. */
const TIMEOUT = 5_000;

/** Chooses between KVM, which is fast, and TCG, which works everywhere. @param {readonly string[]} kernel QEMU's options for the kernel */
export async function accelerator(kernel) {
  const { SANDBOX_ACCELERATOR: chosen } = process.env;
  if (chosen) return chosen;
  // Without a disk, the kernel panics at once, which ends QEMU.
  const args = ["-machine", "q35,accel=kvm", "-no-reboot", "-nodefaults", "-nographic", ...kernel];
  const probe = promisify(execFile)("qemu-system-x86_64", args, {
    ...{ timeout: TIMEOUT, killSignal: "SIGKILL" },
  });
  return probe.then(
    () => "kvm",
    () => "tcg",
  );
}

export class Machine {
  #process;
  /** The agents that run commands of the user, and of this program. */
  #user;
  /** @type {Agent | undefined} */
  #host;
  #state;
  #sockets;
  /** @type {Qmp | undefined} */
  #qmp;
  /** Resolves with the exit code and the signal of QEMU. */
  exited;

  /** Boots a machine. @param {Places} places */
  static async boot(places) {
    const machine = await Machine.#start(places, []);
    await machine.#user.booted;
    return machine;
  }

  /** Continues a machine that was suspended. Until this resolves, its volumes stay as they are. @param {Places} places */
  static async resume(places) {
    const machine = await Machine.#start(places, ["-incoming", "defer"]);
    try {
      await machine.#monitor.migrate("migrate-incoming", `exec:cat '${places.state}'`);
      await machine.#monitor.call("cont");
      // Its clock stood still, and a fork has the random numbers of its siblings.
      const seed = randomBytes(32).toString("hex");
      const now = Math.round(Date.now() / 1_000);
      await machine.#host?.run(`date -s @${now} >/dev/null; echo ${seed} >/dev/urandom`);
      return machine;
    } catch (error) {
      await machine.kill();
      throw error;
    }
  }

  /** @param {Places} places @param {string[]} more */
  static async #start(places, more) {
    const machine = new Machine(places, more);
    machine.#qmp = await Qmp.connect(`${places.nbd}.qmp`, machine.exited);
    const host = createConnection(`${places.nbd}.host`).on("error", () => {});
    machine.#host = new Agent(host, host, machine.exited);
    return machine;
  }

  /**
   * @param {Places} places
   * @param {string[]} more
   */
  constructor({ nbd, memory, size, state, log, accelerator }, more) {
    const backend = `memory-backend-file,id=memory,size=${size},mem-path=${memory},share=on`;
    const args = [
      // If this process is killed, the kernel kills QEMU, too: its disk is gone.
      ...["--pdeathsig", "KILL", "qemu-system-x86_64", "-machine", `q35,accel=${accelerator}`],
      ...["-no-reboot", "-nodefaults", "-nographic", ...KERNEL],
      ...["-object", backend, "-m", `${size / 2 ** 20}`, "-machine", "memory-backend=memory"],
      ...[
        "-blockdev",
        `driver=nbd,node-name=disk,discard=unmap,server.type=unix,server.path=${nbd}`,
      ],
      // By default, a full host would stop the machine.
      ...["-device", "virtio-blk-pci,drive=disk,werror=report"],
      // Tells kernels with its driver that they continue, perhaps more than once: they need new random numbers.
      ...["-device", "vmgenid,guid=auto"],
      ...["-qmp", `unix:${nbd}.qmp,server=on,wait=off`],
      // The first port is the kernel’s, the others are those of the agents.
      ...["-chardev", `file,id=log,path=${log},append=on`, "-serial", "chardev:log"],
      ...["-serial", "stdio"],
      ...["-chardev", `socket,id=host,path=${nbd}.host,server=on,wait=off`],
      ...["-serial", "chardev:host", ...more],
    ];
    // In its own process group, so that Ctrl+C does not end it.
    this.#process = spawn("setpriv", args, { detached: true, stdio: ["pipe", "pipe", "inherit"] });
    this.#process.stdin.on("error", () => {});
    this.#state = state;
    this.#sockets = [`${nbd}.qmp`, `${nbd}.host`];
    this.exited = once(this.#process, "exit");
    this.#user = new Agent(this.#process.stdin, this.#process.stdout, this.exited);
  }

  /** Runs a command in the machine, after those before it. @param {string} command one line */
  run(command) {
    return this.#user.run(command);
  }

  /** Writes the files of the machine to its disk, so that they are there if a host boots it. A machine that hangs does not. */
  async sync() {
    await Promise.race([this.#host?.run("sync"), delay(SYNC_TIMEOUT, undefined, { ref: false })]);
  }

  /** Stops the machine, and stores the state of its devices. Its memory and disk are then as they were at this moment. */
  async pause() {
    await this.#monitor.call("stop");
    await this.#monitor.migrate("migrate", `exec:cat > '${this.#state}'`);
  }

  /** Continues after {@link pause}. */
  async continue() {
    await this.#monitor.call("cont");
  }

  /** Turns the machine off. */
  async powerOff() {
    this.#user.run("sync; poweroff -f").catch(() => {});
    const [code] = await this.exited;
    if (code !== 0) throw new Error("the machine has crashed");
    await this.#removeSockets();
  }

  /** Ends the machine as a power failure would. */
  async kill() {
    this.#process.kill("SIGKILL");
    await this.exited;
    await this.#removeSockets();
  }

  get #monitor() {
    if (this.#qmp === undefined) throw new Error("QEMU has not started");
    return this.#qmp;
  }

  async #removeSockets() {
    for (const path of this.#sockets) await rm(path, { force: true });
  }
}

/** Runs commands in a machine, one after the other. */
class Agent {
  #input;
  /** What takes the answer of each command, by its ID. @type {Map<string, (answer: Answer) => void>} */
  #waiting = new Map();
  #ended;
  /** Resolves when the machine has booted. */
  booted;

  /**
   * @param {import("node:stream").Writable} input
   * @param {import("node:stream").Readable} output
   * @param {Promise<unknown>} exited when QEMU has ended
   */
  constructor(input, output, exited) {
    this.#input = input;
    this.#ended = exited.then(() => Promise.reject(new Error("the machine has crashed")));
    this.booted = this.#answerTo("boot");
    // Whoever waits for an answer gets the error.
    for (const one of [this.#ended, this.booted]) one.catch(() => {});
    this.#read(output.setEncoding("utf8")).catch(() => {});
  }

  /** @param {string} command one line */
  run(command) {
    const id = randomUUID();
    const answer = this.#answerTo(id);
    this.#input.write(`${id} ${command}\n`);
    return answer;
  }

  /** @param {string} id @returns {Promise<Answer>} */
  #answerTo(id) {
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    return Promise.race([answer, this.#ended]);
  }

  /** @param {AsyncIterable<string>} output */
  async #read(output) {
    let text = "";
    for await (const chunk of output) {
      text += chunk;
      for (let end = END.exec(text); end !== null; end = END.exec(text)) {
        const [whole, id = "", code] = end;
        const answer = { output: text.slice(0, end.index), code: Number(code) };
        text = text.slice(end.index + whole.length);
        const take = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (take) take(answer);
        // A command that ran when the machine was saved has ended.
        else process.stdout.write(answer.output);
      }
    }
  }
}

/** Speaks QEMU’s machine protocol (QMP) over a Unix socket. */
class Qmp {
  #socket;
  /** @type {((answer: any) => void)[]} */
  #waiting = [];
  /** @type {Map<string, (data: any) => void>} */
  #events = new Map();
  #ended;

  /** Connects to QEMU as soon as it listens. @param {string} path @param {Promise<unknown>} exited when QEMU has ended */
  static async connect(path, exited) {
    let isRunning = true;
    exited.then(() => {
      isRunning = false;
    });
    while (isRunning) {
      const socket = createConnection(path);
      const isOpen = await new Promise((resolve) => {
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      });
      if (isOpen) {
        const qmp = new Qmp(path, socket, exited);
        await qmp.call("qmp_capabilities");
        return qmp;
      }
      await delay(2);
    }
    throw new Error("the machine has crashed");
  }

  /** @param {string} path @param {import("node:net").Socket} socket @param {Promise<unknown>} exited */
  constructor(path, socket, exited) {
    this.path = path;
    this.#socket = socket.on("error", () => {});
    this.#ended = exited.then(() => Promise.reject(new Error("the machine has crashed")));
    this.#ended.catch(() => {});
    const lines = createInterface({ input: socket }).on("error", () => {});
    lines.on("line", (line) => {
      const message = JSON.parse(line);
      if ("event" in message) this.#events.get(message.event)?.(message.data);
      else if (!("QMP" in message)) this.#waiting.shift()?.(message);
    });
  }

  /** Runs a command. @param {string} execute @param {object} [given] its arguments */
  async call(execute, given = {}) {
    const answer = new Promise((resolve) => this.#waiting.push(resolve));
    this.#socket.write(`${JSON.stringify({ execute, arguments: given })}\n`);
    const { return: result, error } = await Promise.race([answer, this.#ended]);
    if (error) throw new Error(`QEMU: ${execute}: ${error.desc}`);
    return result;
  }

  /**
   * Moves the state of the machine out or in: that of its devices, because its memory is shared.
   *
   * @param {"migrate" | "migrate-incoming"} command
   * @param {string} uri
   */
  async migrate(command, uri) {
    const capabilities = ["x-ignore-shared", "events"].map((capability) => ({
      capability,
      state: true,
    }));
    await this.call("migrate-set-capabilities", { capabilities });
    const ended = new Promise((resolve) => {
      this.#events.set("MIGRATION", ({ status }) => {
        if (status === "completed" || status === "failed") resolve(status);
      });
    });
    await this.call(command, { uri });
    const status = await Promise.race([ended, this.#ended]);
    if (status === "completed") return;
    const { "error-desc": reason = status } = await this.call("query-migrate");
    throw new Error(`QEMU: ${command}: ${reason}`);
  }
}
