const plants = { hawthorn: "Has thorns, and birds.", hazel: "Has nuts, and dormice." };

export function generateStaticParams() {
  return Object.keys(plants).map((name) => ({ name }));
}

/** Renders no other pages on request, so that the filter contains all of them. */
export const dynamicParams = false;

export default async function Plant({ params }) {
  const { name } = await params;
  return <p>{plants[name]}</p>;
}
