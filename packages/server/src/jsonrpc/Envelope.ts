/**
 * A connection that writes as its peer does: with the member `jsonrpc`, or without it, as the original from October on
 * (§3.1). The first message that can be read decides; what is sent before it has the member.
 */
import type { Connection, Frame } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"

const member = '{"jsonrpc":"2.0",'

/** Undefined for what says nothing about it. */
const hasMember = (frame: Frame): boolean | undefined => {
  if (frame._tag !== "Text") return undefined
  try {
    const value: unknown = JSON.parse(frame.text)
    return typeof value === "object" && value !== null ? "jsonrpc" in value : undefined
  } catch {
    // Whoever reads the connection answers it.
    return undefined
  }
}

export const withEnvelope = (connection: Connection): Connection => {
  let bare: boolean | undefined
  return {
    ...connection,
    receive: Effect.map(connection.receive, (frames) => {
      for (const frame of frames) {
        if (bare !== undefined) break
        const has = hasMember(frame)
        bare = has === undefined ? undefined : !has
      }
      return frames
    }),
    send: (texts) =>
      connection.send(
        bare === true
          ? texts.map((text) => (text.startsWith(member) ? `{${text.slice(member.length)}` : text))
          : texts,
      ),
  }
}
