/** Returns the name of a URL in messages: without its user, query and fragment, which may be secret. */
export function safeName({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
