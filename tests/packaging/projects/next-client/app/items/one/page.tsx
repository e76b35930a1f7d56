// The page that the link of the App Router leads to.
import { connection } from "next/server";

export default async function Page() {
  await connection();
  return <main id="one">The first item</main>;
}
