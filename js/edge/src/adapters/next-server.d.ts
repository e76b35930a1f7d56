/** What `hedgerow/next` uses of Next.js, which is too large to be installed for its types alone. */
declare module "next/server.js" {
  export class NextRequest extends Request {
    constructor(input: Request);
    readonly cookies: { clear(): unknown };
    readonly nextUrl: URL;
  }
  export class NextResponse extends Response {
    static next(init?: { request?: { headers?: Headers } }): NextResponse;
  }
  export interface NextFetchEvent {
    waitUntil(promise: Promise<unknown>): void;
  }
}
