// A page of the App Router with a link, a server action, and draft mode.
import { cookies, draftMode } from "next/headers";
import Link from "next/link";

async function count() {
  "use server";
  const jar = await cookies();
  jar.set("count", `${Number(jar.get("count")?.value ?? 0) + 1}`);
}

export default async function Page() {
  const { isEnabled } = await draftMode();
  const { value } = (await cookies()).get("count") ?? {};
  return (
    <main>
      <p id="draft">{isEnabled ? "draft" : "published"}</p>
      <p id="count">{value ?? "0"}</p>
      <form action={count}>
        <button type="submit">Count</button>
      </form>
      <Link href="/items/one">One</Link>
    </main>
  );
}
