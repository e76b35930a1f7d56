// Enables or disables draft mode.
import { draftMode } from "next/headers";

export async function GET(request: Request): Promise<Response> {
  const draft = await draftMode();
  if (new URL(request.url).searchParams.has("off")) draft.disable();
  else draft.enable();
  return new Response("done");
}
