/** JSON for stdout, which may be a terminal. */

/** Control, format and separator characters beyond ASCII. Those of ASCII are escaped by JSON itself, but for DEL. */
const obeyed = /[\u007f\p{Cf}\p{Zl}\p{Zp}\u0080-\u009f]/gu

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("")

/**
 * The value as JSON. Characters that a terminal obeys or does not show are escape sequences: the value that is read is the
 * same.
 *
 * @param indent spaces; absent: one line
 */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(obeyed, escaped)
