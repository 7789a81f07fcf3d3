/** WebSocket frames as bytes (RFC 6455), written and read without the library of the program. Pure. */
import { concat, encode } from "@colloquy/simulation/fuzz/Bytes"

/** The kinds of frames. */
export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** How a frame is written; the defaults are those of a valid client. */
export interface FrameOptions {
  readonly fin?: boolean
  readonly masked?: boolean
}

const mask = Uint8Array.of(0x11, 0x22, 0x33, 0x44)

const lengthBytes = (length: number, bit: number): Uint8Array => {
  if (length < 126) return Uint8Array.of(bit | length)
  return length < 0x1_0000
    ? Uint8Array.of(bit | 126, length >> 8, length & 0xff)
    : Uint8Array.of(
        bit | 127,
        0,
        0,
        0,
        0,
        length >>> 24,
        (length >> 16) & 0xff,
        (length >> 8) & 0xff,
        length & 0xff,
      )
}

const xor = (payload: Uint8Array, key: Uint8Array): Uint8Array =>
  payload.map((byte, at) => byte ^ (key[at % 4] ?? 0))

/** The bytes of one frame. */
export const frame = (
  opcode: number,
  payload: Uint8Array | string,
  { fin = true, masked = true }: FrameOptions = {},
): Uint8Array => {
  const bytes = typeof payload === "string" ? encode(payload) : payload
  const first = Uint8Array.of((fin ? 0x80 : 0) | opcode)
  return masked
    ? concat(first, lengthBytes(bytes.length, 0x80), mask, xor(bytes, mask))
    : concat(first, lengthBytes(bytes.length, 0), bytes)
}

/** One frame as it stands in the bytes. */
export interface Frame {
  readonly fin: boolean
  readonly rsv: number
  readonly opcode: number
  readonly masked: boolean
  /** Length that the frame states; `payload` is shorter where the bytes end before. */
  readonly length: number
  /** True if one byte states the length, as it must for control frames. */
  readonly isShort: boolean
  /** False where the bytes end within the length; then `length` is the first byte of it. */
  readonly isLengthWhole: boolean
  readonly payload: Uint8Array
  /** False where the bytes end before the frame does. */
  readonly isWhole: boolean
}

const frameAt = (bytes: Uint8Array, from: number): readonly [Frame, next: number] | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < from + 2) return undefined
  const [first = 0, second = 0] = bytes.subarray(from, from + 2)
  const masked = second >= 0x80
  const short = second & 0x7f
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0
  const at = from + 2 + extended
  const isLengthWhole = bytes.length >= at
  const length = !isLengthWhole
    ? short
    : short === 126
      ? view.getUint16(from + 2)
      : short === 127
        ? view.getUint32(from + 2) * 2 ** 32 + view.getUint32(from + 6)
        : short
  const start = at + (masked ? 4 : 0)
  const end = start + length
  const raw = bytes.subarray(Math.min(start, bytes.length), Math.min(end, bytes.length))
  const payload = masked ? xor(raw, bytes.subarray(at, at + 4)) : raw
  const isWhole = isLengthWhole && bytes.length >= end
  const found: Frame = {
    fin: first >= 0x80,
    rsv: first & 0x70,
    opcode: first & 0x0f,
    masked,
    length,
    isShort: extended === 0,
    isLengthWhole,
    payload,
    isWhole,
  }
  return [found, end]
}

/** The frames in the bytes; the last one may not be whole. */
export const framesIn = (bytes: Uint8Array): ReadonlyArray<Frame> => {
  const frames: Array<Frame> = []
  for (let at = 0; at < bytes.length;) {
    const found = frameAt(bytes, at)
    if (found === undefined) break
    frames.push(found[0])
    if (!found[0].isWhole) break
    at = found[1]
  }
  return frames
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text; undefined for bytes that are not UTF-8. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** What a server owes for the frames of a client. */
export interface OwedByServer {
  /** The messages, in order: a text, or the number of bytes of a binary one. */
  readonly messages: ReadonlyArray<string | number>
  /** Why the server has to close; `close`: the client closes. Undefined while the connection stays open. */
  readonly end: "close" | 1002 | 1007 | 1009 | undefined
  /** True if the bytes end within a frame or a message. */
  readonly isTorn: boolean
}

const isCloseCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) ||
  (code >= 3000 && code <= 4999)

const endOfClose = ({ payload }: Frame): "close" | 1002 | 1007 => {
  if (payload.length === 0) return "close"
  const [high = 0, low = 0] = payload
  if (payload.length === 1 || !isCloseCode(high * 256 + low)) return 1002
  return textOf(payload.subarray(2)) === undefined ? 1007 : "close"
}

/** The fault of the head of a frame; `isOpen` while a message is fragmented. */
const headFault = (one: Frame, isOpen: boolean): 1002 | undefined => {
  const { fin, isShort, length, masked, opcode, rsv } = one
  const isControl = opcode >= 8
  const isKnown = opcode <= 2 || (opcode >= 8 && opcode <= 10)
  if (rsv !== 0 || !isKnown || !masked) return 1002
  // A close frame has a code of two bytes or none.
  if (opcode === Opcode.close && isShort && length === 1) return 1002
  if (isControl) return fin && isShort ? undefined : 1002
  return (opcode === Opcode.continuation) === isOpen ? undefined : 1002
}

/**
 * What a server owes for the bytes of a client.
 *
 * @param maxBytes largest message, fragments together
 */
export const owedFor = (bytes: Uint8Array, maxBytes: number): OwedByServer => {
  const messages: Array<string | number> = []
  let parts: Array<Uint8Array> = []
  let opcode = 0
  let consumed = 0
  for (const one of framesIn(bytes)) {
    const end = headFault(one, opcode !== 0)
    if (end !== undefined) return { messages, end, isTorn: false }
    const isControl = one.opcode >= 8
    const size = parts.reduce((sum, part) => sum + part.length, 0) + one.length
    if (!isControl && one.isLengthWhole && size > maxBytes)
      return { messages, end: 1009, isTorn: !one.isWhole }
    if (!one.isWhole) return { messages, end: undefined, isTorn: true }
    consumed++
    if (one.opcode === Opcode.close) return { messages, end: endOfClose(one), isTorn: false }
    if (isControl) continue
    if (one.opcode !== Opcode.continuation) opcode = one.opcode
    parts.push(one.payload)
    if (!one.fin) continue
    const whole = concat(...parts)
    const text = opcode === Opcode.text ? textOf(whole) : undefined
    if (opcode === Opcode.text && text === undefined) return { messages, end: 1007, isTorn: false }
    messages.push(text ?? whole.length)
    parts = []
    opcode = 0
  }
  const isTorn = opcode !== 0 || consumed < framesIn(bytes).length || restOf(bytes) > 0
  return { messages, end: undefined, isTorn }
}

/** Bytes after the last frame that are no frame yet. */
const restOf = (bytes: Uint8Array): number => {
  let at = 0
  for (let found = frameAt(bytes, 0); found?.[0].isWhole === true; found = frameAt(bytes, at)) {
    at = found[1]
  }
  return bytes.length - at
}
