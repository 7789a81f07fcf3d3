/** A connection that records what is sent on it, and the request that each message belongs to. For tests. */
import type { Connection } from "@colloquy/protocol/Connection"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"

/** One message that was sent. */
export interface RecordedSend {
  readonly text: string
  /** Absent for a message that belongs to no request in flight. */
  readonly relatedTo?: RequestId
}

/** A connection that records what is sent over it. */
export interface RecordedSends {
  readonly connection: Connection
  /** The messages in the order in which they were sent; grows with each of them. */
  readonly sends: ReadonlyArray<RecordedSend>
}

/** Records the messages before they are handed to the connection, whether or not it accepts them. */
export const recordSends = ({ sendNow: _, ...connection }: Connection): RecordedSends => {
  const sends: Array<RecordedSend> = []
  return {
    sends,
    connection: {
      ...connection,
      send: (texts, options) =>
        Effect.suspend(() => {
          for (const text of texts) sends.push({ text, ...options })
          return connection.send(texts, options)
        }),
    },
  }
}
