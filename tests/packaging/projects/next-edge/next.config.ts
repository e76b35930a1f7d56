// Sets the root explicitly, because parent folders have lockfiles too.
import { join } from "node:path";

export default {
  // Next.js checks the same types in `next-proxy`.
  typescript: { ignoreBuildErrors: true },
  // For the build with a fault, of which the tests keep the cache.
  experimental: { turbopackFileSystemCacheForBuild: true },
  turbopack: { root: join(__dirname, "..", "..") },
};
