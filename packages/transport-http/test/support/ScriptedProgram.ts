/** A program for connections whose responses a test decides: it knows nothing of MCP but the response to `initialize`. */
import type { Connection } from "@colloquy/protocol/Connection"
import {
  notificationText,
  parseFrame,
  type Request,
  type RequestId,
  successText,
} from "@colloquy/protocol/JsonRpc"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import type { Serve } from "../../src/mcp/McpSessions.ts"

/** What the program has received, and how a test lets it respond. */
export interface ScriptedProgram {
  readonly serve: Serve
  /** Every text received, over all connections. */
  readonly received: ReadonlyArray<string>
  /** Requests of `wait`, in order, each with its connection. */
  readonly waiting: ReadonlyArray<{ readonly connection: Connection; readonly id: RequestId }>
  /** Sends a notification that belongs to a request of `wait`. */
  readonly tell: (index: number, text: string) => Effect.Effect<void>
  /** Responds to a request of `wait`. */
  readonly respond: (index: number, text: string) => Effect.Effect<void>
}

const respondTo = (connection: Connection, request: Request) => {
  const { id, method, params } = request
  const result =
    method === "initialize"
      ? { protocolVersion: memberOf(params, "protocolVersion") }
      : { echo: method }
  return Effect.ignore(connection.send([successText(id, result)], { relatedTo: id }))
}

/**
 * Responds at once, except to `wait`.
 *
 * @param onText called with each text once it was handled
 */
export const scriptedProgram = (onText: (text: string) => void = () => {}): ScriptedProgram => {
  const received: Array<string> = []
  const waiting: Array<{ readonly connection: Connection; readonly id: RequestId }> = []
  const handle = (connection: Connection, text: string) => {
    received.push(text)
    const message = parseFrame(text)
    const requests = message._tag === "Batch" ? message.messages : [message]
    const responses = requests.flatMap((one) => (one._tag === "Request" ? [one] : []))
    const [first] = responses
    if (message._tag === "Batch" && first !== undefined) {
      const texts = responses.map(({ id }) => successText(id, {}))
      return Effect.ignore(connection.send([`[${texts.join(",")}]`], { relatedTo: first.id }))
    }
    if (first?.method !== "wait") {
      return first === undefined ? Effect.void : respondTo(connection, first)
    }
    waiting.push({ connection, id: first.id })
    return Effect.void
  }
  const at = (index: number) => {
    const one = waiting[index]
    if (one === undefined) throw new Error(`no request ${index} waits`)
    return one
  }
  return {
    received,
    waiting,
    serve: (connection) =>
      connection.receive.pipe(
        Effect.flatMap((frames) =>
          Effect.forEach(
            frames,
            (frame) =>
              frame._tag === "Text"
                ? Effect.map(handle(connection, frame.text), () => onText(frame.text))
                : Effect.void,
            { discard: true },
          ),
        ),
        Effect.forever,
        // The end of the input.
        Effect.ignore,
      ),
    tell: (index, text) => {
      const { connection, id } = at(index)
      return Effect.ignore(connection.send([notificationText("told", { text })], { relatedTo: id }))
    },
    respond: (index, text) => {
      const { connection, id } = at(index)
      return Effect.ignore(connection.send([successText(id, { text })], { relatedTo: id }))
    },
  }
}
