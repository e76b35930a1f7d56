/** What `wrangler types` would make for the workers of documents, as far as these use it. */
declare module "cloudflare:workers" {
  export const env: { readonly ASSETS: { readonly fetch: typeof fetch } };
}
