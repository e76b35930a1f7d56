/** What one host among 51 can do by lying about itself. */
import { type Host, Hosts, placement } from "@hedgerow/fleet";
import { expect, test } from "vitest";

const STARTS = 1000;
const IMAGE = "a".repeat(64);

/** Returns the number of starts of an image on each host. `lie` is what the placer believes of the host "liar". */
function startsOf(residents: string[], lie: Partial<Host> = {}): Map<string, number> {
  const honest = Array.from({ length: 50 }, (_, number) => ({ id: `${number}`, load: 20 }));
  const hosts = new Hosts([...honest, { id: "liar", load: 20, ...lie }]);
  const starts = new Map<string, number>();
  for (let start = 0; start < STARTS; start += 1) {
    const { host } = placement(IMAGE, hosts, { residents: new Set(residents) });
    if (host === undefined) throw new Error("expected a host, found none");
    hosts.addLoad(host, 1);
    starts.set(host, (starts.get(host) ?? 0) + 1);
  }
  return starts;
}

test("a host that claims all images gets no more than the bound, if loads are the placer's own", () => {
  const mean = 20 + STARTS / 51;
  for (const [host, count] of startsOf(["liar"])) {
    expect(20 + count, host).toBeLessThanOrEqual(1.25 * mean + 1);
  }
});

test("a host whose false load a placer believes lifts the bound of another host", () => {
  expect([...startsOf(["3"], { load: 1e12 })]).toEqual([["3", STARTS]]);
});

test("a host whose false capacity a placer believes gets all starts", () => {
  expect([...startsOf(["3"], { capacity: 1e12 })]).toEqual([["liar", STARTS]]);
});
