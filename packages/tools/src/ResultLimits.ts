/** Limits what the model and the log get of one call of a tool that is not ours. Pure. */
import { maxJsonDepth } from "@colloquy/protocol/Json"

/** What the model and the log get of one result, in bytes of UTF-8. */
export const maxOutputBytes = 1024 * 1024

/** Cuts to a number of bytes of UTF-8, after a whole character, with a note of what is missing. */
export const cutText = (text: string, maxBytes: number): string => {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= maxBytes) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  const head = new TextDecoder().decode(bytes.subarray(0, end))
  return `${head}\n[${bytes.length - end} of ${bytes.length} bytes omitted]`
}

/** Everything that writes JSON later supports as many levels. */
export const maxDepth = maxJsonDepth

/** True when no part of the value is deeper than `max` levels. Not recursive, because the depth may be an attack. */
export const isWithinDepth = (value: unknown, max: number): boolean => {
  const open: Array<readonly [unknown, number]> = [[value, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, depth] = next
    if (typeof at !== "object" || at === null) continue
    if (depth >= max) return false
    for (const part of Object.values(at)) open.push([part, depth + 1])
  }
  return true
}
