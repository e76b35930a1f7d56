export default function hello(_request: unknown, response: { json(body: unknown): void }) {
  response.json({ hello: true });
}
