// Speaks QEMU’s machine protocol (QMP) over a Unix socket.
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

export class Qmp {
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
