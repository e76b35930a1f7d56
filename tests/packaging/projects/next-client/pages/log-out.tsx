// A page that does something when it is rendered. `/api/renders` says how often.
const state = globalThis as { renders?: number };

export async function getServerSideProps() {
  state.renders = (state.renders ?? 0) + 1;
  return { props: {} };
}

export default function Page() {
  return <main id="log-out">Logged out</main>;
}
