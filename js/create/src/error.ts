/** An expected error: users see its message, and no stack trace. */
export class CreateError extends Error {
  override readonly name = "CreateError";
}
