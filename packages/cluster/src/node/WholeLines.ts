/**
 * Newline-delimited JSON between nodes, in time that grows with the length of a message: the parser of Effect looks through
 * everything that it has of a line each time that a part of it arrives.
 */
import * as Layer from "effect/Layer"
import * as RpcSerialization from "effect/rpc/RpcSerialization"

const newline = 0x0a

const concat = (parts: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** The parser, which is given each byte once: as soon as the end of its line has arrived, or the line is too long. */
export const ofWholeLines = (
  parser: RpcSerialization.Parser,
  maxBufferSize: number,
): RpcSerialization.Parser => {
  /** The bytes of the line whose end has not arrived. */
  let parts: Array<Uint8Array> = []
  let length = 0
  const keep = (part: Uint8Array) => {
    if (part.length === 0) return
    parts.push(part)
    length += part.length
  }
  const taken = () => {
    const all = concat(parts, length)
    parts = []
    length = 0
    return all
  }
  return {
    encode: (response) => parser.encode(response),
    decode: (bytes) => {
      if (typeof bytes === "string") return parser.decode(bytes)
      const end = bytes.lastIndexOf(newline) + 1
      keep(bytes.subarray(0, end))
      const items = end === 0 ? [] : parser.decode(taken())
      keep(bytes.slice(end))
      // It refuses what is too long.
      return length > maxBufferSize ? parser.decode(taken()) : items
    },
  }
}

/**
 * Layer of the serialization.
 *
 * @param maxBufferSize length of the longest message, in bytes
 */
export const layer = (maxBufferSize: number): Layer.Layer<RpcSerialization.RpcSerialization> => {
  const ndjson = RpcSerialization.makeNdjson({ maxBufferSize })
  return Layer.succeed(RpcSerialization.RpcSerialization, {
    ...ndjson,
    makeUnsafe: () => ofWholeLines(ndjson.makeUnsafe(), maxBufferSize),
  })
}
