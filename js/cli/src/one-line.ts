/** What a terminal obeys rather than shows: control characters, and those that turn the order of text. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text that others wrote, as a terminal may show it: what it would obey is told by its number. */
export function shown(text: string): string {
  return text.replace(OBEYED, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** A message as one line, whatever it holds. */
export function oneLine(message: string): string {
  return shown(message.trim().replace(/\s*\n\s*/g, " "));
}

/** A value as a line of JSON that a terminal may show: what it would obey is only in strings, and escaped. */
export function jsonOf(value: unknown): string {
  return `${shown(JSON.stringify(value))}\n`;
}
