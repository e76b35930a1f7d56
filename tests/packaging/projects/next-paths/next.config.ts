// Takes the options that the tests vary from a file, with redirects and rewrites of each kind.
import { join } from "node:path";

import options from "./options.json";

export default {
  // The types of these tests are those of `next-proxy`.
  typescript: { ignoreBuildErrors: true },
  // The tests build the app again with other options.
  experimental: { turbopackFileSystemCacheForBuild: true },
  turbopack: { root: join(__dirname, "..", "..") },
  redirects: async () => [
    { source: "/moved", destination: "/about", permanent: true },
    { source: "/moved/:slug", destination: "/blog/:slug", permanent: false },
  ],
  rewrites: async () => ({
    beforeFiles: [{ source: "/first", destination: "/about" }],
    afterFiles: [{ source: "/alias/:slug", destination: "/blog/:slug" }],
    fallback: [{ source: "/last/:path*", destination: "/api/hello" }],
  }),
  ...options,
};
