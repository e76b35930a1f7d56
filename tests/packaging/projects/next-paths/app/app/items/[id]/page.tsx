export const dynamicParams = false;

export const generateStaticParams = () => [{ id: "one" }];

export default function Item() {
  return <p>item</p>;
}
