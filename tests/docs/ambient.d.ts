/** The part of the output of `wrangler types` that workers in documents use. */
declare module "cloudflare:workers" {
  export const env: { readonly ASSETS: { readonly fetch: typeof fetch } };
}
