/** The types of Next.js that `hedgerow/next` uses: Next.js is too large to install for types alone. */
declare module "next/server.js" {
  interface NextURL extends URL {
    /** The base path, if the path begins with it. */
    readonly basePath: string;
    /** The locale, by default that of the host; empty if the site has none. */
    readonly locale: string;
    clone(): NextURL;
  }
  export class NextRequest extends Request {
    constructor(input: Request);
    readonly cookies: { clear(): unknown };
    readonly nextUrl: NextURL;
  }
  export class NextResponse extends Response {
    static next(init?: { request?: { headers?: Headers } }): NextResponse;
  }
  export interface NextFetchEvent {
    waitUntil(promise: Promise<unknown>): void;
  }
}
