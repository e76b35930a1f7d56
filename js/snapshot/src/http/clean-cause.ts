import { messageOf } from "../error.js";
import { isOfTls } from "./retry.js";

/** Text that looks like part of a request, and may be secret. */
const SECRET =
  /authorization|(signature|credential|token|secret|password|key)["'\s]*[=:>]|[0-9a-f]{64}/i;

/** The form of an error's name or code. */
const NAME = /^[a-z][a-z0-9.]{0,63}$/i;

const MAX_LENGTH = 500;

/** Stands for a message that may hold secrets if the error has no name, which would say more. */
const HIDDEN = "a message that may hold secrets, and is not shown";

/** The cause of a failure without the request, which holds credentials. */
export class CleanCause extends Error {
  /** The code of the system, or of TLS. */
  readonly code: string | undefined;
  /** The status of the response. */
  readonly status: number | undefined;

  /**
   * @param error what was thrown: only its message, name and code are copied
   * @param secrets strings that must not appear in them
   */
  constructor(error: unknown, status?: number, secrets: readonly string[] = []) {
    const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
    const clean = cleanName(name, secrets) ?? "Error";
    super(cleanMessage(error, secrets) ?? (clean === "Error" ? HIDDEN : clean));
    this.name = clean;
    this.code = cleanName(code, secrets);
    this.status = status;
  }

  /** A short description for messages. */
  get description(): string {
    const tls = isOfTls(this.code ?? "") ? "TLS failed: " : "";
    const hasName = this.status !== undefined && this.name !== "Error";
    const name = hasName && this.name !== this.message ? `${this.name}: ` : "";
    return `${tls}${name}${this.message}`;
  }
}

/** Returns the message, or undefined if it may hold secrets: a server may repeat what it was sent. */
function cleanMessage(error: unknown, secrets: readonly string[]): string | undefined {
  const message = plainMessage(error);
  if (SECRET.test(message) || holdsAny(message, secrets)) return undefined;
  return message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}…` : message;
}

/** Returns the message on one line. Node reports several failed addresses by an error without a message. */
function plainMessage(error: unknown): string {
  const { errors } = Object(error) as { readonly errors?: readonly unknown[] };
  const first = messageOf(error) === "" ? errors?.[0] : undefined;
  // The AWS SDK copies the message from a response, where it may be of another type, and adds a hint for its own users.
  const message = String(messageOf(first ?? error)).replace(/\s+/g, " ");
  return message.replace(/ Deserialization error: to see the raw response,.*/, "");
}

function cleanName(name: unknown, secrets: readonly string[]): string | undefined {
  const found = typeof name === "string" ? name.replaceAll("_", "") : "";
  return NAME.test(found) && !holdsAny(String(name), secrets) ? String(name) : undefined;
}

function holdsAny(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret !== "" && text.includes(secret));
}
