/** Control characters and bidirectional formatting characters, which a terminal acts on. */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes control and bidirectional characters in untrusted text, for display in a terminal. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Joins the lines of a message into one and escapes its control characters. */
export function oneLine(message: string): string {
  return escapeControls(message.trim().replace(/\s*\n\s*/g, " "));
}

/**
 * Formats a value as one line of JSON. Control characters occur only in strings and are escaped. The command calls the
 * digest of a snapshot its identity, everywhere.
 */
export function jsonOf(value: unknown): string {
  return `${escapeControls(JSON.stringify(value, withIdentity))}\n`;
}

function withIdentity(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("digest" in value)) return value;
  const { digest: identity, ...others } = value;
  return { identity, ...others };
}
