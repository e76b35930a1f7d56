/** What a URL is called in messages: without its user, its query and its fragment, which may be secret. */
export function safeName({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
