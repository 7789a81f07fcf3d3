/**
 * A connection that is written to until its server has ended, and never after (L9): work that outlives the connection,
 * such as a task that is being stopped, may have something to notify of when everything else has been flushed.
 */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"

export interface UntilEnded {
  readonly connection: Connection
  /** From then on `send` fails with `ConnectionClosed`. */
  readonly end: Effect.Effect<void>
}

export const untilEnded = (connection: Connection): UntilEnded => {
  let hasEnded = false
  return {
    connection: {
      ...connection,
      send: (texts) =>
        Effect.suspend(() =>
          hasEnded
            ? Effect.fail(new ConnectionClosed({ reason: "the connection has ended" }))
            : connection.send(texts),
        ),
    },
    end: Effect.sync(() => {
      hasEnded = true
    }),
  }
}
