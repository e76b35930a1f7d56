/** An error whose message alone explains what is wrong. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}
