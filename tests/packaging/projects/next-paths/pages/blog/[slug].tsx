// Prerendered paths only.
export const getStaticPaths = ({
  locales = [undefined],
}: {
  locales?: (string | undefined)[];
}) => ({
  paths: locales.map((locale) => ({ params: { slug: "first" }, locale })),
  fallback: false,
});

export const getStaticProps = () => ({ props: {} });

export default function Post() {
  return <p>post</p>;
}
