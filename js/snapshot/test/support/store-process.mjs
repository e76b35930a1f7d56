// Opens a store of disks, and carries out calls until it is killed, or its standard input ends. Each line of its input is a
// call as JSON, and each line of its output the end of one: { id, value } or { id, error }, with the state of its disk.
// `HEDGEROW_CLOCK` is the number of milliseconds by which the clock of this process is wrong, and `HEDGEROW_MARK` what its
// random identities end with, by which tests know its claims.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";

const now = Date.now.bind(Date);
Date.now = () => now() + Number(process.env.HEDGEROW_CLOCK ?? 0);

const { randomUUID } = crypto;
const mark = process.env.HEDGEROW_MARK ?? "";
/** @type {{ randomUUID: () => string }} */ (crypto).randomUUID = () =>
  randomUUID().slice(0, 36 - mark.length) + mark;
syncBuiltinESMExports();

const { DiskStore } = await import("@hedgerow/snapshot");

/** @type {import("@hedgerow/snapshot").DiskStore} */
let store;
/** @type {Map<number, any>} */
const disks = new Map();

/** @param {any} disk */
function stateOf(disk) {
  const { generation, epoch, size, image, changedBytes } = disk;
  const volumes = Object.fromEntries(
    disk.volumes.map((/** @type {string} */ name) => {
      const { size, changedBytes } = disk.volume(name);
      return [name, { size, changedBytes }];
    }),
  );
  return { generation, epoch, size, image, changedBytes, volumes, lost: disk.lost.aborted };
}

/** @param {AsyncIterable<unknown>} items */
async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

/** @type {Record<string, (...args: any[]) => unknown>} */
const calls = {
  open: async (place, options) => {
    store = await DiskStore.open(place, options);
  },
  attach: async (id, name, options) => {
    disks.set(id, await store.attach(name, options));
  },
  unsaved: () => all(store.unsaved()),
  list: () => all(store.list()),
};

/** @param {any} disk @param {string} call @param {any[]} args */
async function callDisk(disk, call, args) {
  const [start, given, name] = args;
  const volume = name === undefined ? disk : disk.volume(name);
  if (call === "write") return volume.write(start, Buffer.from(given, "base64"));
  if (call === "read") return (await volume.read(start, given)).toString("base64");
  return disk[call](...args);
}

/** @param {string} line */
async function carryOut(line) {
  const { id, disk: number, call, args: given } = JSON.parse(line);
  // JSON has no undefined.
  const args = given.map((/** @type {any} */ one) => one ?? undefined);
  let end;
  try {
    const any = /** @type {any} */ (store);
    const disk = disks.get(number);
    const value =
      disk !== undefined
        ? await callDisk(disk, call, args)
        : await (calls[call] ?? ((...all) => any[call](...all)))(...args);
    end = { id, value };
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    end = { id, error: { code, message } };
  }
  const disk = disks.get(number ?? (call === "attach" ? args[0] : undefined));
  console.log(JSON.stringify({ ...end, state: disk && stateOf(disk) }));
}

for await (const line of createInterface({ input: process.stdin })) void carryOut(line);
process.exit();
