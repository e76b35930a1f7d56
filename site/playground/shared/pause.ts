/** Lets the page paint and handle input. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
