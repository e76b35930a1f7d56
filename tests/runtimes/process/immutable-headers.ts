/** Returns immutable headers. */
export function immutableHeaders(): Headers {
  const { headers } = Response.redirect("http://localhost/elsewhere");
  return "Bun" in globalThis ? refusing(headers) : headers;
}

/** Makes `delete` throw. Bun has no immutable headers, so these replace them. */
function refusing(headers: Headers): Headers {
  headers.delete = () => {
    throw new TypeError("immutable");
  };
  return headers;
}
