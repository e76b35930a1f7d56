export default function Page() {
  return <p>app</p>;
}
