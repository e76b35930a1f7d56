import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";

/** Calls `act` when a request has a connection, TLS included. */
export function onConnected(request: ClientRequest, act: () => void): void {
  const event = request.protocol === "https:" ? "secureConnect" : "connect";
  request.once("socket", (socket: Socket) => {
    if (socket.connecting) socket.once(event, act);
    else act();
  });
}
