// Sets the root explicitly, because parent folders have lockfiles too.
import { join } from "node:path";

export default {
  // Next.js checks the same types in `next-proxy`.
  typescript: { ignoreBuildErrors: true },
  turbopack: { root: join(__dirname, "..", "..") },
};
