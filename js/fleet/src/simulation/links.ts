/** A download that is running. Rates are in bytes per millisecond. */
interface Download<T> {
  readonly subject: T;
  readonly maxRate: number;
  left: number;
  rate: number;
}

/** The network link of a host: its downloads, and the time up to which they were computed. */
interface Link<T> {
  downloads: Download<T>[];
  computed: number;
  /** When the next download ends. */
  due: number;
}

/** A download ends if it would take less than this, in milliseconds: more than the error of a time. */
const TOLERANCE = 1e-3;

/** The links of all hosts. The downloads of a host share its link fairly; none is faster than its own maximum. */
export class Links<T> {
  readonly #rate: number;
  readonly #schedule: (row: number, time: number) => void;
  readonly #links: readonly Link<T>[];

  /** @param schedule is called with a time at which downloads of a host may have ended: then call `ended` */
  constructor(hosts: number, rate: number, schedule: (row: number, time: number) => void) {
    this.#rate = rate;
    this.#schedule = schedule;
    this.#links = Array.from({ length: hosts }, () => {
      return { downloads: [], computed: 0, due: Infinity };
    });
  }

  begin(row: number, subject: T, bytes: number, maxRate: number, now: number): void {
    const link = this.#links[row]!;
    progress(link, now);
    link.downloads.push({ subject, maxRate, left: bytes, rate: 0 });
    this.#share(row, link);
  }

  /** Removes the downloads that have ended, and returns them in the order of their begin. */
  ended(row: number, now: number): T[] {
    const link = this.#links[row]!;
    // The link was shared anew since this time was scheduled.
    if (now !== link.due) return [];
    progress(link, now);
    const hasEnded = ({ left, rate }: Download<T>) => left <= TOLERANCE * rate;
    const ended = link.downloads.filter(hasEnded);
    link.downloads = link.downloads.filter((download) => !hasEnded(download));
    this.#share(row, link);
    return ended.map(({ subject }) => subject);
  }

  /** Gives each download its part of the link: the slowest ones first, so that others get what they leave. */
  #share(row: number, link: Link<T>): void {
    const slowest = [...link.downloads].sort((one, other) => one.maxRate - other.maxRate);
    let [rate, sharers, next] = [this.#rate, slowest.length, Infinity];
    for (const download of slowest) {
      download.rate = Math.min(download.maxRate, rate / sharers);
      rate -= download.rate;
      sharers -= 1;
      next = Math.min(next, download.left / download.rate);
    }
    link.due = link.computed + next;
    if (next < Infinity) this.#schedule(row, link.due);
  }
}

/** Computes what the downloads of a link have left. */
function progress(link: Link<unknown>, now: number): void {
  for (const download of link.downloads) download.left -= download.rate * (now - link.computed);
  link.computed = now;
}
