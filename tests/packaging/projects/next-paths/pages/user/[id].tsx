export const getServerSideProps = () => ({ props: {} });

export default function User() {
  return <p>user</p>;
}
