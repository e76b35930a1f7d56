/** The package has no types. */
declare module "proxy-from-env" {
  /** Returns the URL of the proxy for a URL, or an empty string. */
  export function getProxyForUrl(url: URL): string;
}
