/** Headers that nobody may change. */
export function immutableHeaders(): Headers {
  const { headers } = Response.redirect("http://localhost/elsewhere");
  return "Bun" in globalThis ? refusing(headers) : headers;
}

/** Bun lets everybody change all headers: there, these stand in for those of other engines. */
function refusing(headers: Headers): Headers {
  headers.delete = () => {
    throw new TypeError("immutable");
  };
  return headers;
}
