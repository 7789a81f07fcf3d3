/** The inputs of an edge, in order: a function of the edge, the seed and the number of the input (L12). */
import { SeededRandom } from "../SeededRandom.ts"
import { mutateBytes, oneOf } from "./Bytes.ts"
import type { Edge } from "./Edge.ts"

const defaultMaxBytes = 16 * 1024

/** The 32-bit FNV-1a hash of the bytes, continued from another hash. */
export const hash = (bytes: Uint8Array, from = 0x811c9dc5): number => {
  let value = from
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value
}

const utf8 = new TextEncoder()

/** The input with that number; the first ones are the unchanged corpus. */
export const inputOf = (edge: Edge, seed: number, index: number): Uint8Array => {
  const unchanged = edge.corpus[index]
  if (unchanged !== undefined) return unchanged
  const draws = new SeededRandom(hash(utf8.encode(`${edge.name}:${seed}:${index}`)))
  let input = oneOf(draws, edge.corpus)
  const structural = edge.mutate
  // Few mutations reach deep into a decoder; many reveal faults that occur only together.
  for (let left = 1 + draws.below(draws.chance(0.8) ? 3 : 8); left > 0; left--) {
    input =
      structural !== undefined && draws.chance(0.8)
        ? structural(input, draws)
        : mutateBytes(input, draws, oneOf(draws, edge.corpus))
  }
  return input.subarray(0, edge.maxInputBytes ?? defaultMaxBytes)
}
