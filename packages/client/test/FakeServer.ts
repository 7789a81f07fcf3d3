/** The server's end of a connection in memory, driven by the test message by message. */
import type { Connection } from "@colloquy/protocol/Connection"
import { type Message, parse } from "@colloquy/protocol/JsonRpc"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Effect from "effect/Effect"

/** The messages the client sends, one at a time. Dies at the end of the connection. */
const messages = (connection: Connection) => {
  let read: Array<Message> = []
  return Effect.suspend(function next(): Effect.Effect<Message> {
    const first = read.shift()
    if (first !== undefined) return Effect.succeed(first)
    return Effect.flatMap(Effect.orDie(connection.receive), (frames) => {
      read = frames.flatMap((frame) => (frame._tag === "Text" ? [parse(frame.text)] : []))
      return next()
    })
  })
}

export const make = (capacity?: number) =>
  Effect.map(memoryPair(capacity), ([client, server]) => ({
    /** For the client under test. */
    connection: client,
    server,
    /** The client's next message. */
    next: messages(server),
    send: (...texts: ReadonlyArray<string>) => Effect.orDie(server.send(texts)),
  }))

/** Enough turns of the scheduler for everything that can go on to have gone on. */
export const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, {
  discard: true,
})
