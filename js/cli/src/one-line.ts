/** A message as one line, whatever it holds. */
export function oneLine(message: string): string {
  return message.trim().replace(/\s*\n\s*/g, " ");
}
