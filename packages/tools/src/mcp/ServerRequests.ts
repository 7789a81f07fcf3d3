/**
 * Answers the requests of a tool server: pings and questions to a person; all others are refused by name.
 *
 * Keeps L1 towards the server: one response to every request. Pending questions are bounded in number; the conversation
 * bounds the size of each and quotes its text.
 */
import { Elicit, Ping } from "@colloquy/protocol/mcp/CodexMcp"
import type { Elicitation, ElicitationAnswer } from "@colloquy/core/approvals/Approval"
import * as JsonRpc from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"

/** A question without the name of its server, which the wire does not contain. */
type Question = Omit<Elicitation, "server">

/** Puts a question to a person. */
export type AskPerson = (question: Question) => Effect.Effect<ElicitationAnswer>

/** Returns the text of the response to a request. */
export type Answering = (request: JsonRpc.Request) => Effect.Effect<string>

/** Reads a notification of the server. Never fails, and takes no time. */
export type Notified = (notification: JsonRpc.Notification) => void

/** What becomes of the messages of a server that respond to no request. */
export interface Receiving {
  readonly answering: Answering
  readonly notified: Notified
}

/** A person reads one question at a time; a server with more pending ones is flooding. */
const maxOpenQuestions = 4

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/**
 * The whole form, or one without members where the server sent no schema. Nothing is removed here, whatever the size:
 * a conversation declines what is too large.
 */
const readForm = (schema: unknown): Elicitation["requestedSchema"] => {
  if (!isRecord(schema)) return { type: "object", properties: {} }
  return schema["type"] === "object" ? schema : { ...schema, type: "object" }
}

const readQuestion = (params: unknown): Question | undefined => {
  const { message, mode, requestedSchema } = isRecord(params) ? params : {}
  if (typeof message !== "string" || (mode !== undefined && mode !== "form")) return undefined
  return {
    message,
    requestedSchema: readForm(requestedSchema),
  }
}

const refused = (id: JsonRpc.RequestId, code: number, message: string): string =>
  JsonRpc.failureText(id, new JsonRpc.JsonRpcError({ code, message }))

/** Answers the requests of one server. */
export const make = (ask: AskPerson): Answering => {
  const open = new Set<string | number>()
  const elicit = (request: JsonRpc.Request): Effect.Effect<string> =>
    Effect.suspend(() => {
      const question = readQuestion(request.params)
      if (question === undefined) {
        const expected = "expected `message`, a string, and a form to fill in"
        return Effect.succeed(refused(request.id, JsonRpc.ErrorCode.invalidParams, expected))
      }
      if (open.size >= maxOpenQuestions) {
        return Effect.succeed(JsonRpc.successText(request.id, { action: "cancel" }))
      }
      const key = JsonRpc.requestIdKey(request.id)
      open.add(key)
      return ask(question).pipe(
        Effect.map((answer) => JsonRpc.successText(request.id, answer)),
        Effect.ensuring(Effect.sync(() => open.delete(key))),
      )
    })
  const answer: Answering = (request) => {
    if (open.has(JsonRpc.requestIdKey(request.id))) {
      // A response with this id could be taken for the pending response.
      return Effect.succeed(JsonRpc.failureText(null, JsonRpc.idInUse(request.id)))
    }
    switch (request.method) {
      case Ping._tag:
        return Effect.succeed(JsonRpc.successText(request.id, {}))
      case Elicit._tag:
        return elicit(request)
      default: {
        const message = `Method not found: ${request.method.slice(0, 200).toWellFormed()}`
        return Effect.succeed(refused(request.id, JsonRpc.ErrorCode.methodNotFound, message))
      }
    }
  }
  return (request) => Effect.suspend(() => answer(request))
}
