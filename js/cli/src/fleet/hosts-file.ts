import type { Host } from "@hedgerow/fleet";

import { expecting } from "../files/expecting.js";
import { Json } from "../files/json.js";

/** The hosts of a fleet, and which of them have an image. */
export interface FleetHosts {
  readonly hosts: readonly Host[];
  readonly residents: ReadonlySet<string>;
}

/**
 * Reads a list of hosts: `[{ "id": "a", "load": 3, "capacity": 2, "available": true, "images": ["…"] }]`. All members
 * but `id` are optional.
 *
 * @throws {CliError} `ERR_SOURCE` if the file is not such a list; the values are checked by `placement`
 */
export async function readHosts(file: string, identity: string): Promise<FleetHosts> {
  const list = await expecting(file, "a list of hosts", () => Json.read(file));
  if (!list.isList) throw list.error("a list of hosts");
  const hosts: Host[] = [];
  const residents = new Set<string>();
  for (const host of list.items()) {
    const id = host.get("id").string();
    const images = host.get("images").items();
    if (images.some((image) => image.string() === identity)) residents.add(id);
    hosts.push({
      id,
      load: host.get("load").numberIfThere(),
      capacity: host.get("capacity").numberIfThere(),
      available: host.get("available").booleanIfThere(),
    });
  }
  return { hosts, residents };
}
