/** Wrong values for each argument and option of the functions that do no I/O. */
import { type Host, Hosts, type PlacementOptions, placement, RequestShares } from "@hedgerow/fleet";
import { describe, expect, test } from "vitest";

const hosts = [{ id: "a" }];

/** Calls a function with values of which each is refused, as an error of this message. */
function refuses(
  values: readonly unknown[],
  call: (value: never) => unknown,
  message: RegExp,
): void {
  for (const value of values) {
    const expected = expect.objectContaining({
      name: "FleetError",
      code: "ERR_ARGUMENT",
      message: expect.stringMatching(message),
    });
    expect(() => call(value as never), String(value)).toThrow(expected);
  }
}

const NO_NUMBERS = [null, "1", Number.NaN, {}, 1n];

describe("placement", () => {
  const ids = [undefined, null, 1, "", "i".repeat(257), {}];

  test("refuses identities that are no text of 1 to 256 characters", () => {
    refuses(ids, (value) => placement(value, hosts), /^identity: expected a text of 1 to 256/);
    expect(placement("i".repeat(256), hosts).host).toBe("a");
  });

  test("refuses hosts that are not hosts", () => {
    refuses([undefined, null, 1, {}], (value) => placement("i", value), /^hosts: expected an iter/);
    refuses([null, 1, "a"], (value) => placement("i", [value]), /^host: expected an object/);
    refuses(ids, (value) => placement("i", [{ id: value }]), /^host\.id: expected a text/);
    refuses([[{ id: "a" }, { id: "a" }]], (value) => placement("i", value), /a twice/);
    const withLoad = (load: number): Host => ({ id: "a", load });
    refuses([...NO_NUMBERS, -1, 1.1e12], (load) => placement("i", [withLoad(load)]), /^load of a/);
    const withCapacity = (capacity: number): Host => ({ id: "a", capacity });
    refuses(
      [...NO_NUMBERS, 0, 1e-7, Infinity],
      (capacity) => placement("i", [withCapacity(capacity)]),
      /^capacity of a: expected a number from 0\.000001 to/,
    );
    refuses([1, null], (available) => new Hosts([{ id: "a", available }]), /^available of a/);
    refuses([...NO_NUMBERS, 2e12], (load) => new Hosts(hosts).addLoad("a", load), /^load/);
  });

  test("refuses options out of range, and takes those at the bounds", () => {
    const call = (options: PlacementOptions) => placement("i", hosts, options);
    refuses([null, 1], call, /^options: expected an object/);
    refuses([{ bond: 2 }], call, /^options: expected known options, found "bond"/);
    refuses([["a"], "a", {}], (residents) => call({ residents }), /^residents: expected a Set/);
    refuses([...NO_NUMBERS, 0.99, 1_001], (bound) => call({ bound }), /^bound/);
    refuses([...NO_NUMBERS, -1, 1.1e12], (load) => call({ load }), /^load/);
    refuses([...NO_NUMBERS, -0.1, 1.1], (share) => call({ share }), /^share/);
    for (const bound of [1, 1_000])
      for (const load of [0, 1e12])
        for (const share of [0, 1]) expect(call({ bound, load, share }).host).toBe("a");
  });
});

test("RequestShares refuses options and times out of range", () => {
  refuses([...NO_NUMBERS, 0, 2e12], (halfLife) => new RequestShares({ halfLife }), /^halfLife/);
  refuses([{ halflife: 1 }], (options) => new RequestShares(options), /found "halflife"/);
  refuses([0, 2 ** 20 + 1], (maxImages) => new RequestShares({ maxImages }), /^maxImages/);
  const shares = new RequestShares();
  refuses([...NO_NUMBERS, undefined, Infinity], (now) => shares.add("i", now), /^now/);
  refuses([...NO_NUMBERS, undefined, Infinity], (now) => shares.of("i", now), /^now/);
  refuses([undefined, ""], (name) => shares.add(name, 0), /^identity/);
});
