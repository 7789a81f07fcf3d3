/**
 * Trims whitespace around a line of a patch: Unicode's White_Space, as in the original. `String.trim` differs: it trims
 * U+FEFF and does not trim U+0085. Uses loops, because a pattern would take quadratic time on a line of spaces.
 */

const isSpace = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  code === 0x85 ||
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000

/** The text without whitespace at its end. */
export const trimEnd = (text: string): string => {
  let end = text.length
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

/** The text without whitespace at its beginning and end. */
export const trim = (text: string): string => {
  const rest = trimEnd(text)
  let start = 0
  while (start < rest.length && isSpace(rest.charCodeAt(start))) start++
  return rest.slice(start)
}
