// Times the decision of each policy for a fleet of 1,000 hosts, of which 20 have the image.
import { Hosts } from "../../../js/fleet/dist/index.js";
import { NODE, resultsOf } from "../../harness/results.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { POLICIES } from "./simulator/policies.ts";
import { Random } from "./simulator/random.ts";

/** @import { Measured } from "../../harness/results.mjs" */

const HOSTS = 1_000;
const IMAGES = 1_000;
const RESIDENTS = 20;
const DECISIONS = 10_000;

/** @param {number} rounds @returns {Promise<Measured[]>} */
export async function measureDecisions(rounds) {
  const random = new Random(1);
  const ids = Array.from({ length: HOSTS }, (_, number) => `host-${number}`);
  const hosts = new Hosts(ids.map((id) => ({ id, load: 10 + random.below(20) })));
  const images = Array.from({ length: IMAGES }, (_, number) => ({
    identity: `${number}`.padStart(64, "0"),
    bytes: 2 ** 28,
  }));
  const residents = images.map(
    () => new Set(Array.from({ length: RESIDENTS }, () => ids[random.below(HOSTS)] ?? "")),
  );
  const none = new Set();
  const residentsOf = (/** @type {number} */ image) => residents[image] ?? none;
  const fleet = { hosts, images, slots: 64, residentsOf, random };
  const methods = Object.entries(POLICIES).map(([name, make]) => {
    const policy = make(fleet);
    const time = () => {
      const begin = performance.now();
      for (let number = 0; number < DECISIONS; number += 1) policy.place(number % IMAGES, number);
      return ((performance.now() - begin) / DECISIONS) * 1000;
    };
    return { name, time };
  });
  const timed = await takeTurns(methods, rounds, { warmUps: 2 });
  const about = { suite: `fleet-${NODE}, decision`, workload: "1000 hosts", unit: "µs" };
  return resultsOf(about, timed, (sample) => sample);
}
