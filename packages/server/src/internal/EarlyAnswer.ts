/** What the early handshakes of both dialects do with a connection. */
import type { Connection, ConnectionClosed, Frame } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"

/** The connection with these frames in front of those that it receives. */
export const preceded = (connection: Connection, frames: ReadonlyArray<Frame>): Connection => {
  let left = frames
  return {
    ...connection,
    receive: Effect.suspend(() => {
      if (left.length === 0) return connection.receive
      const taken = left
      left = []
      return Effect.succeed(taken)
    }),
  }
}

/** Sends the response and resolves when it was handed to the client, who is gone if that fails. */
export const answer = (
  connection: Connection,
  text: string,
): Effect.Effect<void, ConnectionClosed> =>
  Effect.andThen(connection.send([text]), connection.flush)
