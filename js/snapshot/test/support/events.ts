import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Events } from "@hedgerow/snapshot";
import { onTestFinished } from "vitest";

/** Records the events of a channel from now until the end of the test. */
export function recordEvents<Name extends keyof Events>(name: Name): Events[Name][] {
  const events: Events[Name][] = [];
  const listener = (event: unknown) => void events.push(event as Events[Name]);
  subscribe(name, listener);
  onTestFinished(() => void unsubscribe(name, listener));
  return events;
}
