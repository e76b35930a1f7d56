const plants = { hawthorn: "Has thorns, and birds.", hazel: "Has nuts, and dormice." };

export function generateStaticParams() {
  return Object.keys(plants).map((name) => ({ name }));
}

/** With it, no other page is made when it is asked for, and a filter knows all of them. */
export const dynamicParams = false;

export default async function Plant({ params }) {
  const { name } = await params;
  return <p>{plants[name]}</p>;
}
