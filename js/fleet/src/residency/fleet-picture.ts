import type { HostStatus, HostVersion, Message, StoredHost } from "./engine.js";
import { ImageIndex, wordsOf } from "./image-index.js";

/** The last known state of a host. */
interface Known {
  epoch: string;
  seq: number;
  status: HostStatus;
  /** When its state ends, in milliseconds of the monotonic clock of this process. */
  deadline: number;
}

/** The effect of a message or a read: the host must be read again, or there are too many hosts or images. */
export type Effect = "done" | "read" | "full";

/** The known hosts of a fleet, and their images. */
export class FleetPicture {
  readonly #hosts = new Map<string, Known>();
  readonly #images: ImageIndex;

  constructor(
    private readonly maxHosts: number,
    maxImages: number,
  ) {
    this.#images = new ImageIndex(maxImages);
  }

  /** The number of hosts. */
  get size(): number {
    return this.#hosts.size;
  }

  hostsOf(identity: string): ReadonlySet<string> {
    return this.#images.hostsOf(identity);
  }

  /** Returns all hosts, with the number of their images. */
  hosts(): ({ readonly id: string; readonly images: number } & HostStatus)[] {
    return [...this.#hosts].map(([id, { status }]) => {
      return { id, ...status, images: this.#images.count(id) };
    });
  }

  ids(): IterableIterator<string> {
    return this.#hosts.keys();
  }

  /** Applies a message. @param now the monotonic time in milliseconds */
  apply(message: Message, now: number): Effect {
    if (message.kind === "full") return "read";
    const known = this.#hosts.get(message.host);
    if (message.kind === "gone") {
      if (known?.epoch === message.epoch) this.delete(message.host);
      return known === undefined || known.epoch === message.epoch ? "done" : "read";
    }
    const { host, epoch, seq, added, removed } = message;
    if (known === undefined || known.epoch !== epoch || seq > known.seq + 1) return "read";
    if (seq <= known.seq) return "done";
    this.#images.remove(host, wordsOf(removed.join(""))!);
    const hasSpace = this.#images.add(host, wordsOf(added.join(""))!);
    this.#know(message, now);
    return hasSpace ? "done" : "full";
  }

  /** Takes over the state of a host that was read. Returns "read" if it is invalid. */
  replace(stored: StoredHost, now: number): Effect {
    const { host, epoch, seq, images } = stored;
    const known = this.#hosts.get(host);
    if (known === undefined && this.#hosts.size >= this.maxHosts) return "full";
    // A message may have come first.
    if (known?.epoch === epoch && seq < known.seq) return "done";
    const words = wordsOf(images);
    if (words === undefined) return "read";
    this.#know(stored, now);
    return this.#images.replace(host, words) ? "done" : "full";
  }

  delete(host: string): void {
    this.#hosts.delete(host);
    this.#images.delete(host);
  }

  /** Returns the hosts whose state has ended, unless the engine has heard of them. */
  overdue(now: number): string[] {
    return [...this.#hosts].filter(([, { deadline }]) => deadline < now).map(([host]) => host);
  }

  #know({ host, epoch, seq, status, ttl }: HostVersion, now: number): void {
    this.#hosts.set(host, { epoch, seq, status, deadline: now + ttl });
  }
}
