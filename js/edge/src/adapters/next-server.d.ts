/** The types of Next.js that `hedgerow/next` uses: Next.js is too large to install for types alone. */
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
