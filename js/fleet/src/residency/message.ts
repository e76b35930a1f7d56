import { MAX_ID_LENGTH } from "../check.js";
import { type HostChange, type HostStatus, type HostVersion, MAX_CHANGES } from "./engine.js";

/** The maximum length of a message, in UTF-16 code units. */
export const MAX_MESSAGE_LENGTH = 2 ** 18;

/** The maximum TTL of a host, in milliseconds: an hour. */
export const MAX_TTL = 3_600_000;

/** A message to those who watch: the state of a host has changed, or must be read again, or is gone. */
export type Message =
  | (HostVersion & {
      readonly kind: "change";
      readonly added: readonly string[];
      readonly removed: readonly string[];
    })
  | { readonly kind: "full"; readonly host: string }
  | { readonly kind: "gone"; readonly host: string; readonly epoch: string };

/** Returns the message for a change. One that is full has no images: they are read. */
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

/** Returns the message that a host has stopped to report. */
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

/** Returns whether a value is a text as the ID of a host has. */
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
