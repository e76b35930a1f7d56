// A page of the Pages Router with a link that has an effect on the server. It is prefetched when it is pointed at.
import Link from "next/link";

export default function Page() {
  return (
    <main>
      <Link href="/log-out" prefetch={false}>
        Log out
      </Link>
    </main>
  );
}
