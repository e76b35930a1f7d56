export const getStaticProps = () => ({ props: {} });

export default function About() {
  return <p>about</p>;
}
