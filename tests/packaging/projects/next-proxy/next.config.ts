// Sets the root explicitly, and keeps Next.js from changing paths and responses.
import { join } from "node:path";

export default {
  compress: false,
  poweredByHeader: false,
  skipProxyUrlNormalize: true,
  skipTrailingSlashRedirect: true,
  turbopack: { root: join(__dirname, "..", "..") },
};
