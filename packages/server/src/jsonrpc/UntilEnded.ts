/**
 * A connection that accepts messages until its peer has ended, and none afterwards (L9): work that outlives the
 * connection, such as a task that is being stopped, may send a notification after everything else has been flushed.
 */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"

/** The connection and its end. */
export interface UntilEnded {
  readonly connection: Connection
  /** Makes `send` fail with `ConnectionClosed` from now on. */
  readonly end: Effect.Effect<void>
}

/**
 * Wraps a connection so that its sending can be ended.
 *
 * @param connection is not changed itself
 */
export const untilEnded = (connection: Connection): UntilEnded => {
  let hasEnded = false
  const { sendNow } = connection
  return {
    connection: {
      ...connection,
      send: (texts, options) =>
        Effect.suspend(() =>
          hasEnded
            ? Effect.fail(new ConnectionClosed({ reason: "the connection has ended" }))
            : connection.send(texts, options),
        ),
      ...(sendNow === undefined
        ? {}
        : { sendNow: (texts, options) => !hasEnded && sendNow(texts, options) }),
    },
    end: Effect.sync(() => {
      hasEnded = true
    }),
  }
}
