// Next.js, told where the packages are: folders above have lockfiles of their own.
import { join } from "node:path";

export default {
  turbopack: { root: join(__dirname, "..", "..") },
};
