// A virtual machine in QEMU whose disk is an NBD server, a file, or a socket of vhost-user-blk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { inRoot } from "../../../scripts/lib/paths.mjs";
import { output } from "../../../scripts/lib/run.mjs";

const FOLDER = inRoot("target/guest");

/** The programs of a guest, all of them links to busybox. */
const PROGRAMS = ["cat", "poweroff", "sh", "sha256sum", "sync"];

/** QEMU, which the kernel kills when this process ends. A guest with KVM does not start everywhere that has /dev/kvm. */
const QEMU = [
  ...["--pdeathsig", "KILL", "qemu-system-x86_64", "-machine", "q35,accel=tcg", "-m", "256"],
  ...["-no-reboot", "-nodefaults", "-nographic"],
];

/** How long a command may take by default, in milliseconds. */
const TIMEOUT = 30_000;

/**
 * Makes an image of a file system from which a guest starts.
 *
 * @param {string} image the path of the image
 * @param {string} size as `mke2fs` reads it
 * @param {(folder: string) => void} add adds files to the folder of the tree
 */
export function makeGuestImage(image, size, add) {
  const tree = `${image}.tree`;
  addGuestPrograms(tree);
  add(tree);
  output("mke2fs", ["-q", "-t", "ext4", "-d", tree, image, size]);
  rmSync(tree, { recursive: true });
}

/** Adds what a guest starts with to the folder of a tree. @param {string} tree */
export function addGuestPrograms(tree) {
  for (const folder of ["bin", "dev", "proc", "tmp"])
    mkdirSync(join(tree, folder), { recursive: true });
  const busybox = output("which", ["busybox"]).trim();
  cpSync(busybox, join(tree, "bin/busybox"), { dereference: true });
  for (const program of PROGRAMS) symlinkSync("busybox", join(tree, "bin", program));
}

/** A disk: as QEMU's option `-drive` reads it, or a socket. @typedef {string | { vhostUser: string }} Disk */

/** Returns QEMU's options for a disk. @param {Disk} disk */
function optionsOf(disk) {
  if (typeof disk === "string") return ["-drive", `${disk},if=virtio`];
  return [
    ...["-object", "memory-backend-memfd,id=memory,size=256M,share=on"],
    ...["-machine", "memory-backend=memory"],
    ...["-chardev", `socket,id=disk,path=${disk.vhostUser},reconnect=1`],
    ...["-device", "vhost-user-blk-pci,chardev=disk"],
  ];
}

/** A running guest, with a shell on its console. */
export class Guest {
  #child;
  #console = "";
  #commands = 0;
  #timeout = TIMEOUT;

  /**
   * Starts a guest, and waits for its shell.
   *
   * @param {Disk} disk
   * @param {number} [timeout] how long the start and each command may take, in milliseconds
   */
  static async start(disk, timeout = TIMEOUT) {
    const guest = new Guest(disk);
    guest.#timeout = timeout;
    try {
      await guest.#find(/\/ # /);
      return guest;
    } catch (error) {
      await guest.kill();
      throw error;
    }
  }

  /** @param {Disk} disk */
  constructor(disk) {
    const kernel = ["-kernel", join(FOLDER, "vmlinuz"), "-initrd", join(FOLDER, "initramfs")];
    const boot = [...kernel, "-append", "console=ttyS0 quiet panic=-1", "-serial", "stdio"];
    const args = [...QEMU, ...boot, ...optionsOf(disk)];
    this.#child = spawn("setpriv", args, { stdio: ["pipe", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("latin1").on("data", (text) => {
        this.#console += text;
        this.#child.emit("console");
      });
    }
  }

  /** Runs a command, and returns its output. Throws if it fails. @param {string} command */
  async run(command) {
    this.#commands += 1;
    const start = this.#console.length;
    // The console echoes the command, in which the number is not behind the word.
    this.#child.stdin.write(`${command}\necho "ended" ${this.#commands} $?\n`);
    const end = await this.#find(new RegExp(`ended ${this.#commands} (\\d+)`));
    const printed = this.#console.slice(start, end.index);
    if (end[1] !== "0") throw new Error(`the guest failed with ${end[1]}: ${printed}`);
    return printed;
  }

  /** Turns the guest off, and waits until QEMU has ended. */
  async powerOff() {
    const exit = once(this.#child, "exit");
    this.#child.stdin.write("sync; poweroff -f\n");
    const [code] = await exit;
    if (code !== 0) throw new Error(`QEMU ended with ${code}: ${this.#console}`);
  }

  /** Ends QEMU, if it still runs. */
  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }

  /** Waits for a text on the console. @param {RegExp} text @returns {Promise<RegExpExecArray>} */
  #find(text) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = text.exec(this.#console);
        if (found !== null) end(() => resolve(found));
      };
      /** @param {() => void} settle */
      const end = (settle) => {
        clearTimeout(timer);
        this.#child.off("console", look).off("exit", fail);
        settle();
      };
      const fail = () =>
        end(() => reject(new Error(`the guest does not answer: ${this.#console}`)));
      const timer = setTimeout(fail, this.#timeout);
      this.#child.on("console", look).on("exit", fail);
      look();
    });
  }
}
