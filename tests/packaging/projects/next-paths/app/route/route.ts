export const GET = () => Response.json({ route: true });
