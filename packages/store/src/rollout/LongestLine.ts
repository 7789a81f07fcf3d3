/** The length of lines, which readers limit. Pure. */

/**
 * Length of the longest line. Not determined when all lines together have at most `enough` bytes.
 */
export const longestLine = (bytes: Uint8Array, enough: number): number => {
  if (bytes.length <= enough) return bytes.length
  let longest = 0
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(0x0a, from) + 1
    longest = Math.max(longest, end - from)
    from = end
  }
  return longest
}
