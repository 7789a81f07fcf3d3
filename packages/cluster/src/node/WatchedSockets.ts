/**
 * Ends a connection whose other side is silent: a process that is stopped keeps its connections, and accepts new ones; a
 * machine that has vanished does not end them. A connection is watched by what is read from it alone, because writes may wait
 * for ever where the other side reads nothing.
 */
import * as Effect from "effect/Effect"
import * as Socket from "effect/socket/Socket"

/** Time between two looks at a connection. */
const lookEvery = "1 second"

/** Says to the connection that it is not closed in order, so that nothing waits for what it has not sent. */
const silent = new Socket.CloseEvent(1006, "the other side is silent")

/**
 * The socket, whose connections fail when nothing was read from them at so many looks, a second apart. Looks are counted
 * instead of time, so that a connection is not ended because this process itself was stopped.
 */
export const watched = (socket: Socket.Socket, looks: number): Socket.Socket =>
  Socket.make({
    writer: socket.writer,
    reader: Effect.gen(function* () {
      const { write } = yield* socket.writer
      const { pull, upgrade } = yield* socket.reader
      let silentLooks = 0
      const look = Effect.suspend(() => {
        silentLooks += 1
        return silentLooks > looks ? write(silent) : Effect.void
      })
      yield* Effect.forever(Effect.delay(look, lookEvery)).pipe(
        // A connection that can no longer be written to has ended: its reader fails, and reports why.
        Effect.catchTag("SocketError", () => Effect.void),
        Effect.forkScoped,
      )
      const noted = <A>(frames: A): A => {
        silentLooks = 0
        return frames
      }
      return { pull: Effect.map(pull, noted), upgrade }
    }),
  })
