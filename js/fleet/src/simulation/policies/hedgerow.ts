import { placement } from "../../placement/placement.js";
import { RequestShares } from "../../placement/request-shares.js";
import type { MakePolicy } from "../policy.js";

/** Makes a policy of `placement` of this package with a bound, with residency and `RequestShares`. */
const withBound =
  (bound: number): MakePolicy =>
  ({ hosts, images, residentsOf }) => {
    const { indexes } = hosts.columns();
    const shares = new RequestShares();
    return {
      place(image, now) {
        const { identity } = images[image]!;
        const options = { residents: residentsOf(image), share: shares.of(identity, now), bound };
        return indexes.get(placement(identity, hosts, options).host)!;
      },
      count(image, now) {
        shares.add(images[image]!.identity, now);
      },
    };
  };

/** `placement` with its default bound. */
export const hedgerow = withBound(1.25);

/** The same as even as policies that place by load, to compare their hits. */
export const hedgerowEven = withBound(1.05);
