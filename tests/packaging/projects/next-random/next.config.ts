// Next.js, told where the packages are, and to leave paths and answers as they are.
import { join } from "node:path";

export default {
  // Its types are like those of the other apps, which Next.js checks.
  typescript: { ignoreBuildErrors: true },
  compress: false,
  poweredByHeader: false,
  skipProxyUrlNormalize: true,
  skipTrailingSlashRedirect: true,
  turbopack: { root: join(__dirname, "..", "..") },
};
