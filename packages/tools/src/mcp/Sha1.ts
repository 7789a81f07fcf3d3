/**
 * SHA-1 of a text: the original completes long tool names by it (§6.7). Names things, protects nothing.
 *
 * Own code, because the platform's digest is asynchronous and a service, and a tool's name is a pure fact.
 */

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits))

/** The bytes followed by the bit 1, zeros and the length in bits: a whole number of blocks of 16 words. */
const padded = (bytes: Uint8Array): DataView => {
  const blocks = Math.ceil((bytes.length + 9) / 64)
  const block = new Uint8Array(blocks * 64)
  block.set(bytes)
  block[bytes.length] = 0x80
  const view = new DataView(block.buffer)
  view.setBigUint64(block.length - 8, BigInt(bytes.length) * 8n)
  return view
}

const schedule = (view: DataView, offset: number): Int32Array => {
  const words = new Int32Array(80)
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(offset + i * 4)
  const at = (i: number) => words[i] ?? 0
  for (let i = 16; i < 80; i++) {
    words[i] = rotate(at(i - 3) ^ at(i - 8) ^ at(i - 14) ^ at(i - 16), 1)
  }
  return words
}

type State = readonly [a: number, b: number, c: number, d: number, e: number]

const mix = (round: number, b: number, c: number, d: number): number => {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
  return (b ^ c ^ d) + 0xca62c1d6
}

const compress = (state: State, words: Int32Array): State => {
  let [a, b, c, d, e] = state
  for (let i = 0; i < 80; i++) {
    const next = (rotate(a, 5) + mix(i, b, c, d) + e + (words[i] ?? 0)) | 0
    ;[a, b, c, d, e] = [next, a, rotate(b, 30), c, d]
  }
  return [
    (state[0] + a) | 0,
    (state[1] + b) | 0,
    (state[2] + c) | 0,
    (state[3] + d) | 0,
    (state[4] + e) | 0,
  ]
}

/** 40 lower-case hexadecimal digits of the text's UTF-8. */
export const sha1Hex = (text: string): string => {
  const view = padded(new TextEncoder().encode(text))
  let state: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    state = compress(state, schedule(view, offset))
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("")
}
