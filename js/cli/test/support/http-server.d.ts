/** What is used of `http-server`, which has no types. */
declare module "http-server" {
  import type { Server } from "node:http";

  const httpServer: { createServer(options: { root: string }): { server: Server } };
  export default httpServer;
}
