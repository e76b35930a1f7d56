/** The bindings of `wrangler.jsonc`, which configure the worker. */
declare module "cloudflare:workers" {
  export const env: {
    /** The origin, such as `https://origin.example`. */
    readonly ORIGIN: string;
    /** Names and prefixes of internal headers. */
    readonly INTERNAL_HEADERS: readonly string[];
    /** The paths that the origin has. `/*` at the end covers all paths below. */
    readonly PATHS: readonly string[];
  };
}
