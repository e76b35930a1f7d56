// Next.js, told where the packages are, and to leave paths and answers as they are.
import { join } from "node:path";

export default {
  compress: false,
  poweredByHeader: false,
  skipProxyUrlNormalize: true,
  skipTrailingSlashRedirect: true,
  turbopack: { root: join(__dirname, "..", "..") },
};
