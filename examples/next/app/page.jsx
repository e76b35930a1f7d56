import Link from "next/link";

export default function Page() {
  return (
    <main>
      <h1>Hedges</h1>
      <Link href="/plants/hazel">Hazel</Link>
    </main>
  );
}
