/** The characters of a token (RFC 9110 §5.6.2) that a rule may contain. A name may also contain `*`. */
export const TOKEN_CHARACTERS =
  "!#$%&'+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

export function isToken(text: string): boolean {
  return text !== "" && [...text].every((c) => c === "*" || TOKEN_CHARACTERS.includes(c));
}

/** Maximum length of a rule, in characters. */
export const MAX_RULE_LENGTH = 256;

/** Greatest number of distinct rules of one stripper. */
export const MAX_RULES = 32_768;
