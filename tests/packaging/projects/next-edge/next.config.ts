// Next.js, told where the packages are: folders above have lockfiles of their own.
import { join } from "node:path";

export default {
  // Its types are like those of `next-proxy`, which Next.js checks.
  typescript: { ignoreBuildErrors: true },
  turbopack: { root: join(__dirname, "..", "..") },
};
