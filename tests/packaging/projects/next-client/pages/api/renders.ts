// Responds with the number of times that the page `/log-out` was rendered.
import type { NextApiRequest, NextApiResponse } from "next";

export default function handler(_request: NextApiRequest, response: NextApiResponse) {
  response.json((globalThis as { renders?: number }).renders ?? 0);
}
