// Sets the root explicitly.
import { join } from "node:path";

export default {
  // The types of these tests are those of `next-proxy`.
  typescript: { ignoreBuildErrors: true },
  turbopack: { root: join(__dirname, "..", "..") },
};
