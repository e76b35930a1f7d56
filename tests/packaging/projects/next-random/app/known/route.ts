// Something to build: requests do not get as far.
export const GET = () => new Response("known");
