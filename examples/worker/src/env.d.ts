/** The bindings of `wrangler.jsonc`, which configure the worker. */
declare module "cloudflare:workers" {
  export const env: {
    /** The origin, such as `https://origin.example`. */
    readonly ORIGIN: string;
    /** Names and prefixes of internal headers. */
    readonly INTERNAL_HEADERS: readonly string[];
    /** The paths that the origin has; one that ends in `/*` is all below it. */
    readonly PATHS: readonly string[];
  };
}
