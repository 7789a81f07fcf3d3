/** Bytes as a string literal in which each character is one byte, to be pasted into a test or a shell, and back. */

const named: ReadonlyMap<number, string> = new Map([
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0d, "\\r"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
])

const escapeByte = (byte: number): string =>
  named.get(byte) ??
  (byte >= 0x20 && byte < 0x7f
    ? String.fromCharCode(byte)
    : `\\x${byte.toString(16).padStart(2, "0")}`)

/** The bytes as a string literal, without the quotes around it. */
export const escapeBytes = (bytes: Uint8Array): string => Array.from(bytes, escapeByte).join("")

const escape = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S]))/g

const unnamed: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", "0": "\0" }

const utf8 = new TextEncoder()

/** The inverse of `escapeBytes`; characters without an escape are encoded as UTF-8. */
export const unescapeBytes = (text: string): Uint8Array => {
  const parts: Array<number> = []
  let from = 0
  const plain = (to: number) => parts.push(...utf8.encode(text.slice(from, to)))
  for (const match of text.matchAll(escape)) {
    const [whole, byte, unit, other] = match
    plain(match.index)
    from = match.index + whole.length
    if (byte !== undefined) parts.push(Number.parseInt(byte, 16))
    else if (unit !== undefined) {
      parts.push(...utf8.encode(String.fromCharCode(Number.parseInt(unit, 16))))
    } else if (other !== undefined) parts.push(...utf8.encode(unnamed[other] ?? other))
  }
  plain(text.length)
  return Uint8Array.from(parts)
}
