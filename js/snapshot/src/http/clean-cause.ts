import { messageOf } from "../error.js";
import { isOfTls } from "./retry.js";

/** What only a part of a request can be, which may be secret. */
const SECRET =
  /authorization|(signature|credential|token|secret|password|key)["'\s]*[=:>]|[0-9a-f]{64}/i;

/** What a server's own name of an error looks like. */
const NAME = /^[a-z][a-z0-9.]{0,63}$/i;

const MAX_LENGTH = 500;

/** What is told of a failure: nothing of the request, which has credentials. */
export class CleanCause extends Error {
  /** What the system, or TLS, calls it. */
  readonly code: string | undefined;
  /** What the server answered. */
  readonly status: number | undefined;

  /**
   * @param error what was thrown, of which only texts and numbers are taken
   * @param secrets what must not be in a message, whoever wrote it
   */
  constructor(error: unknown, status?: number, secrets: readonly string[] = []) {
    super(cleanMessage(error, secrets));
    const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
    this.name = cleanName(name, secrets) ?? "Error";
    this.code = cleanName(code, secrets);
    this.status = status;
  }

  /** What happened, in a few words. */
  get what(): string {
    const tls = isOfTls(this.code ?? "") ? "TLS failed: " : "";
    const name = this.status === undefined || this.name === "Error" ? "" : `${this.name}: `;
    return `${tls}${name}${this.message}`;
  }
}

/** A server may repeat in its message what it was sent: what may be secret is not told. */
function cleanMessage(error: unknown, secrets: readonly string[]): string {
  const message = plainMessage(error);
  if (SECRET.test(message) || holdsAny(message, secrets)) return "a message that is not shown";
  return message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}…` : message;
}

/** Node tells of several addresses that failed in an error without a message. */
function plainMessage(error: unknown): string {
  const { errors } = Object(error) as { readonly errors?: readonly unknown[] };
  const first = messageOf(error) === "" ? errors?.[0] : undefined;
  // The AWS SDK takes a message from an answer as it is, which may be no text.
  return String(messageOf(first ?? error)).replace(/\s+/g, " ");
}

function cleanName(name: unknown, secrets: readonly string[]): string | undefined {
  const found = typeof name === "string" ? name.replaceAll("_", "") : "";
  return NAME.test(found) && !holdsAny(String(name), secrets) ? String(name) : undefined;
}

function holdsAny(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret !== "" && text.includes(secret));
}
