/** The server's end of a connection in memory; the test drives it message by message. */
import type { Connection } from "@colloquy/protocol/Connection"
import { type Message, parse } from "@colloquy/protocol/JsonRpc"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Effect from "effect/Effect"

/** The messages that the client sends, one at a time. Dies at the end of the connection. */
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

/** Creates the pair of connections. */
export const make = (capacity?: number) =>
  Effect.map(memoryPair(capacity), ([client, server]) => ({
    /** The connection of the client under test. */
    connection: client,
    server,
    /** The client's next message. */
    next: messages(server),
    send: (...texts: ReadonlyArray<string>) => Effect.orDie(server.send(texts)),
  }))

/** Yields until every fiber that can proceed has done so. */
export const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, {
  discard: true,
})
