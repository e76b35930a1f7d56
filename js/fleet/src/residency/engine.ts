/** The interface of engines, and the messages by which hosts tell others of their changes. */
import { MAX_ID_LENGTH } from "../check.js";

/** The state of a host, as it is published. */
export interface HostStatus {
  /** Its load, from 0 to 1e12. */
  readonly load: number;
  /** Its capacity relative to other hosts, from 1e-6 to 1e12. */
  readonly capacity: number;
  /** Whether sandboxes may start on it. */
  readonly available: boolean;
  /** The disk usage of its cache, in bytes. */
  readonly bytes: number;
  /** How often an image was in its cache. */
  readonly hits: number;
  /** How often an image was not in its cache. */
  readonly misses: number;
}

/** The part of a change that says which host has changed, and when. */
export interface HostVersion {
  /** The ID of the host. */
  readonly host: string;
  /** A random text, new each time that the host starts to report. */
  readonly epoch: string;
  /** The number of the change, which counts up from 1 in each epoch. */
  readonly seq: number;
  /** How long the state is valid from now on, in milliseconds. */
  readonly ttl: number;
  /** The load of the host and the state of its cache. */
  readonly status: HostStatus;
}

/** A change of a host. */
export interface HostChange extends HostVersion {
  /** Whether `added` is everything that the host has, and replaces what the engine knows. */
  readonly isFull: boolean;
  /** Identities of images. Each is 64 hexadecimal digits in lower case. */
  readonly added: readonly string[];
  /** Identities of images, likewise. None if the change is full. */
  readonly removed: readonly string[];
  /** The number of images after the change. */
  readonly count: number;
}

/** The state of a host in the engine. `ttl` is its remaining time. */
export interface StoredHost extends HostVersion {
  /** The identities of its images, of 64 hexadecimal digits each, without separators. */
  readonly images: string;
}

/** A request for one of the slots of an image. */
export interface SlotRequest {
  /** The identity of the image. */
  readonly identity: string;
  /** A random text, for one holder of a slot. */
  readonly holder: string;
  /** The maximum number of holders. */
  readonly slots: number;
  /** How long the slot is held unless it is renewed, in milliseconds, by the clock of the engine. */
  readonly ttl: number;
}

/**
 * The engine that shares the state of a fleet: `redisEngine`, or your own over NATS KV or etcd.
 *
 * Every method must settle within seconds, and rejects if the engine cannot be reached or refuses. Only the clock of
 * the engine counts.
 */
export interface FleetEngine {
  /**
   * Stores a change for its `ttl`, and sends it to all subscribers, atomically.
   *
   * A change that is not full applies only to the state of the same epoch and the previous `seq`, with the same number
   * of images. Resolves to `false`, and does nothing, if the engine has another state or none.
   */
  publish(change: HostChange): Promise<boolean>;

  /** Removes the state of a host if it is of this epoch, and tells all subscribers. */
  remove(host: string, epoch: string): Promise<void>;

  /** Returns the IDs of all hosts whose state is valid; more are allowed. */
  hosts(): Promise<readonly string[]>;

  /** Returns the state of a host; `undefined` if it has none, and `"invalid"` if it cannot be understood. */
  read(host: string): Promise<StoredHost | "invalid" | undefined>;

  /**
   * Subscribes to all changes from now on. The subscription ends, and calls `onEnd` once, as soon as a message may have
   * been lost or the engine does not answer.
   *
   * @param onMessage is called with texts as `encodeMessage` returns them
   * @returns a function that ends the subscription, without calling `onEnd`
   */
  subscribe(
    onMessage: (text: string) => void,
    onEnd: (cause: unknown) => void,
  ): Promise<() => void>;

  /**
   * Takes a slot, or renews it if the holder has it: `"held"`. Otherwise resolves to `"filled"` if the image was filled
   * recently, or to `"full"` if all slots are held.
   */
  takeSlot(request: SlotRequest): Promise<"held" | "filled" | "full">;

  /** Releases a slot. With `filledFor`, notes for that many milliseconds that the image was filled. */
  releaseSlot(identity: string, holder: string, filledFor?: number): Promise<void>;
}

/** The maximum number of images that a host reports; the least recently used ones are left out. */
export const MAX_IMAGES = 65_536;

/** The maximum number of images that are added and removed by a message; a larger change is published in full. */
export const MAX_CHANGES = 1_024;

/** The maximum length of a message, in UTF-16 code units. */
export const MAX_MESSAGE_LENGTH = 2 ** 18;

/** The maximum TTL of a host, in milliseconds: an hour. */
export const MAX_TTL = 3_600_000;

/** A message to watchers: the state of a host has changed, must be read again, or is gone. */
export type Message =
  | (HostVersion & {
      readonly kind: "change";
      readonly added: readonly string[];
      readonly removed: readonly string[];
    })
  | { readonly kind: "full"; readonly host: string }
  | { readonly kind: "gone"; readonly host: string; readonly epoch: string };

/** Returns the message for a change. For a full change, it has no images: watchers read them. */
export function encodeMessage({
  host,
  epoch,
  seq,
  ttl,
  status,
  isFull,
  ...images
}: HostChange): string {
  if (isFull) return JSON.stringify({ kind: "full", host });
  const { added, removed } = images;
  return JSON.stringify({ kind: "change", host, epoch, seq, ttl, status, added, removed });
}

/** Returns the message that a host has stopped reporting. */
export function encodeGone(host: string, epoch: string): string {
  return JSON.stringify({ kind: "gone", host, epoch });
}

/** Parses a message. Returns `undefined` if it is invalid. */
export function parseMessage(text: unknown): Message | undefined {
  if (typeof text !== "string" || text.length > MAX_MESSAGE_LENGTH) return undefined;
  const message = parsed(text);
  if (!isText(message?.host)) return undefined;
  const { kind, host, epoch } = message;
  if (kind === "full") return { kind, host };
  if (kind === "gone") return isText(epoch) ? { kind, host, epoch } : undefined;
  if (kind !== "change") return undefined;
  const version = versionOf(host, message);
  const { added, removed } = message;
  if (version === undefined || !isIdentities(added) || !isIdentities(removed)) return undefined;
  return { kind, ...version, added, removed };
}

/** Returns the version in an object with members of any type, or `undefined` if one is invalid. */
export function versionOf(host: string, found: Record<string, unknown>): HostVersion | undefined {
  const { epoch, seq, ttl, status } = found;
  const isValid = isText(epoch) && Number.isSafeInteger(seq) && isWithin(ttl, 0, MAX_TTL);
  const checked = statusOf(typeof status === "string" ? parsed(status) : status);
  if (!isValid || checked === undefined) return undefined;
  return { host, epoch, seq: seq as number, ttl: ttl as number, status: checked };
}

function statusOf(value: unknown): HostStatus | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { load, capacity, available, bytes, hits, misses } = value as HostStatus;
  const counts = [bytes, hits, misses].every((count) => isWithin(count, 0, 2 ** 53));
  if (!counts || !isWithin(load, 0, 1e12) || !isWithin(capacity, 1e-6, 1e12)) return undefined;
  if (typeof available !== "boolean") return undefined;
  return { load, capacity, available, bytes, hits, misses };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns whether a value has the form of the ID of a host. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_ID_LENGTH;
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

/** Returns whether a text is the identity of an image: 64 hexadecimal digits in lower case. */
export function isIdentity(text: unknown): text is string {
  return typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
}

function isIdentities(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_CHANGES && value.every(isIdentity);
}
