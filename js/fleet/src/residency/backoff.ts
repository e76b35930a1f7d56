/** Returns a random delay in milliseconds, which doubles with each attempt: at least half of it is waited. */
export function backoff(attempt: number, first: number, max: number): number {
  return Math.min(max, first * 2 ** Math.min(attempt, 30)) * (0.5 + Math.random() / 2);
}
