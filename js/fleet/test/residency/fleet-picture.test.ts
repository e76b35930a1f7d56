/** The picture of a fleet: which messages it applies, and when a host must be read. */
import { expect, test } from "vitest";

import { digestOf } from "../../../snapshot/test/support/stored-images.js";
import type { HostChange, StoredHost } from "../../src/residency/engine.js";
import { encodeGone, encodeMessage, parseMessage } from "../../src/residency/engine.js";
import { FleetPicture } from "../../src/residency/fleet-picture.js";

const STATUS = { load: 0, capacity: 1, available: true, bytes: 0, hits: 0, misses: 0 };

const [FIRST, SECOND] = [digestOf(1), digestOf(2)];

const stored = (members: Partial<StoredHost> = {}): StoredHost => {
  return { host: "a", epoch: "1", seq: 5, ttl: 1_000, status: STATUS, images: FIRST, ...members };
};

const change = (members: Partial<HostChange> = {}) => {
  const version = { ...stored(), isFull: false, added: [SECOND], removed: [FIRST], count: 1 };
  return parseMessage(encodeMessage({ ...version, seq: 6, ...members }))!;
};

const newPicture = () => {
  const picture = new FleetPicture(2, 10);
  picture.replace(stored(), 0);
  return picture;
};

test("refuses a message that lacks any field, or any field of its status", () => {
  const whole = JSON.parse(JSON.stringify(change()));
  expect(parseMessage(JSON.stringify(whole))).toEqual(change());
  const without = (fields: object, name: string) => ({ ...fields, [name]: undefined });
  const lacking = [
    ...Object.keys(whole).map((name) => without(whole, name)),
    ...Object.keys(STATUS).map((name) => ({ ...whole, status: without(STATUS, name) })),
  ];
  expect(lacking.map((message) => parseMessage(JSON.stringify(message)))).toEqual(
    lacking.map(() => undefined),
  );
});

test("applies the next change of a host", () => {
  const picture = newPicture();
  expect(picture.apply(change(), 0)).toBe("done");
  expect([...picture.hostsOf(SECOND)]).toEqual(["a"]);
  expect(picture.hostsOf(FIRST).size).toBe(0);
});

test.each([
  ["a message is missing", { seq: 7 }],
  ["it has started again", { epoch: "2" }],
  ["it is not known", { host: "b" }],
  ["everything has changed", { isFull: true }],
])("asks to read a host when %s", (_, members) => {
  const picture = newPicture();
  expect(picture.apply(change(members), 0)).toBe("read");
  expect([...picture.hostsOf(FIRST)]).toEqual(["a"]);
});

test("ignores changes and states that are older than what it knows", () => {
  const picture = newPicture();
  expect(picture.apply(change({ seq: 5 }), 0)).toBe("done");
  expect(picture.replace(stored({ seq: 4, images: SECOND }), 0)).toBe("done");
  expect([...picture.hostsOf(FIRST)]).toEqual(["a"]);
});

test("knows the state of a host that has started again, which counts from the beginning", () => {
  const picture = newPicture();
  expect(picture.replace(stored({ epoch: "2", seq: 1, images: SECOND }), 0)).toBe("done");
  expect([...picture.hostsOf(SECOND)]).toEqual(["a"]);
  expect(picture.hostsOf(FIRST).size).toBe(0);
});

test("removes a host that is gone, but not one that has started again", () => {
  const picture = newPicture();
  expect(picture.apply(parseMessage(encodeGone("a", "0"))!, 0)).toBe("read");
  expect(picture.size).toBe(1);
  expect(picture.apply(parseMessage(encodeGone("a", "1"))!, 0)).toBe("done");
  expect([picture.size, picture.hostsOf(FIRST).size]).toEqual([0, 0]);
});

test("knows as many hosts as allowed, and no more", () => {
  const picture = newPicture();
  expect(picture.replace(stored({ host: "b" }), 0)).toBe("done");
  expect(picture.replace(stored({ host: "c" }), 0)).toBe("full");
  expect(picture.hosts().map(({ id }) => id)).toEqual(["a", "b"]);
});

test("names hosts of which nothing was heard within their TTL", () => {
  const picture = newPicture();
  picture.replace(stored({ host: "b" }), 500);
  expect(picture.overdue(1_000)).toEqual([]);
  expect(picture.overdue(1_001)).toEqual(["a"]);
  picture.apply(change(), 1_001);
  expect(picture.overdue(1_501)).toEqual(["b"]);
});
