/**
 * A client of any revision over any connection, in plain JSON. Its messages follow only the specification, so that the
 * same behaviours hold for every revision and transport. It waits for messages, never for time.
 */
import type { Connection } from "@colloquy/protocol/Connection"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { read, type WireMessage } from "../support/Wire.ts"

export type Members = Readonly<Record<string, unknown>>

/** A response to a request: `result` or `error`. */
export type Reply = Pick<WireMessage, "result" | "error">

interface Question {
  readonly method: string
  readonly params: Members
}

/** How a client responds to a question: with a result, with an error (`refused`), or never (undefined). */
export type Answerer = (question: Question) => Members | "refused" | undefined

interface Open {
  readonly id: number
  readonly reply: Effect.Effect<Reply>
}

export interface Speaker {
  readonly revision: Revision
  /** Whether the revision has no `initialize`, so that every request carries version and capabilities. */
  readonly stateless: boolean
  /** All messages received so far, including responses. */
  readonly messages: ReadonlyArray<WireMessage>
  /** Resolves with the first message, received already or later, that `fits` accepts. */
  readonly until: (fits: (message: WireMessage) => boolean) => Effect.Effect<WireMessage>
  readonly begin: (method: string, params?: Members) => Effect.Effect<Open>
  readonly ask: (method: string, params?: Members) => Effect.Effect<Reply>
  readonly notify: (method: string, params?: Members) => Effect.Effect<void>
  /** Cancels a request. */
  readonly cancel: (id: number) => Effect.Effect<void>
  /** Sends a request, answers the server's questions as the revision defines, and resolves with the last response. */
  readonly converse: (method: string, params: Members, answer: Answerer) => Effect.Effect<Conversed>
}

interface Conversed {
  readonly reply: Reply
  readonly asked: ReadonlyArray<Question>
}

export interface SpeakerOptions {
  readonly revision: Revision
  /** Capabilities that the client declares. Default: none. */
  readonly capabilities?: Members
}

const prefix = "io.modelcontextprotocol/"
const clientInfo = { name: "behaviours", version: "1" }

const isStateless = (revision: Revision) => revision >= "2026"

/** Reads messages until the scope closes and resolves the effects that wait for one. */
const inbox = Effect.fnUntraced(function* (connection: Connection) {
  const messages: Array<WireMessage> = []
  const waiting = new Set<(message: WireMessage) => boolean>()
  yield* connection.receive.pipe(
    Effect.map((frames) => {
      for (const frame of frames) {
        if (frame._tag !== "Text") throw new Error(`a frame that is no text: ${frame._tag}`)
        const message = read(frame.text)
        messages.push(message)
        for (const wants of waiting) if (wants(message)) waiting.delete(wants)
      }
    }),
    Effect.forever,
    // The server of the test ends with the end of the input.
    Effect.exit,
    Effect.forkScoped({ startImmediately: true }),
  )
  const until: Speaker["until"] = (fits) =>
    Effect.suspend(() => {
      const found = messages.find(fits)
      if (found !== undefined) return Effect.succeed(found)
      const arrived = Deferred.makeUnsafe<WireMessage>()
      const wants = (message: WireMessage) => {
        const suits = fits(message)
        if (suits) Deferred.doneUnsafe(arrived, Effect.succeed(message))
        return suits
      }
      waiting.add(wants)
      return Effect.onInterrupt(Deferred.await(arrived), () =>
        Effect.sync(() => waiting.delete(wants)),
      )
    })
  return { messages, until }
})

const isReplyTo = (id: number) => (message: WireMessage) =>
  message.method === undefined && message.id === id

const answerMessage = (id: unknown, answer: Members | "refused") =>
  answer === "refused"
    ? { jsonrpc: "2.0", id, error: { code: -1, message: "the window is closed" } }
    : { jsonrpc: "2.0", id, result: answer }

interface Parts {
  readonly speaker: Omit<Speaker, "converse">
  readonly send: (message: Members) => Effect.Effect<void>
}

/** `converse` for revisions in which questions are requests of the server. */
const conversing = ({ send, speaker }: Parts): Speaker["converse"] =>
  Effect.fnUntraced(function* (method, params, answer) {
    const asked: Array<Question> = []
    const seen = new Set(speaker.messages)
    const { id } = yield* speaker.begin(method, params)
    while (true) {
      const message = yield* speaker.until(
        (one) =>
          !seen.has(one) && (isReplyTo(id)(one) || (one.method !== undefined && "id" in one)),
      )
      seen.add(message)
      if (message.method === undefined) return { reply: message, asked }
      const question = { method: message.method, params: message.params ?? {} }
      asked.push(question)
      const said = answer(question)
      if (said !== undefined) yield* send(answerMessage(message.id, said))
    }
  })

/** `converse` for revisions in which a response carries the questions and the request is repeated with answers. */
const repeating = ({ speaker }: Parts): Speaker["converse"] =>
  Effect.fnUntraced(function* (method, params, answer) {
    const asked: Array<Question> = []
    let reply = yield* speaker.ask(method, params)
    while (reply.result?.["resultType"] === "input_required") {
      const { inputRequests = {}, requestState } = reply.result
      const inputResponses: Record<string, unknown> = {}
      for (const [key, one] of Object.entries(inputRequests as Record<string, Question>)) {
        asked.push(one)
        const said = answer(one)
        if (said === undefined) return { reply, asked }
        // Answers cannot be errors here: a client that cannot answer cancels the question.
        inputResponses[key] = said === "refused" ? { action: "cancel" } : said
      }
      reply = yield* speaker.ask(method, {
        ...params,
        inputResponses,
        ...(requestState === undefined ? {} : { requestState }),
      })
    }
    return { reply, asked }
  })

/** Connects a client and sends `initialize` if its revision has it. */
export const speak: (
  connection: Connection,
  options: SpeakerOptions,
) => Effect.Effect<Speaker, never, Scope.Scope> = Effect.fnUntraced(function* (
  connection,
  { capabilities = {}, revision },
) {
  const { messages, until } = yield* inbox(connection)
  const stateless = isStateless(revision)
  let lastId = 0
  const send = (message: Members) => Effect.orDie(connection.send([JSON.stringify(message)]))
  const envelope = (params: Members): Members =>
    stateless
      ? {
          ...params,
          _meta: {
            [`${prefix}protocolVersion`]: revision,
            [`${prefix}clientInfo`]: clientInfo,
            [`${prefix}clientCapabilities`]: capabilities,
            ...(params["_meta"] as Members | undefined),
          },
        }
      : params
  const begin: Speaker["begin"] = (method, params = {}) =>
    Effect.suspend(() => {
      const id = ++lastId
      return Effect.as(send({ jsonrpc: "2.0", id, method, params: envelope(params) }), {
        id,
        reply: until(isReplyTo(id)),
      })
    })
  const notify: Speaker["notify"] = (method, params = {}) =>
    send({ jsonrpc: "2.0", method, params: envelope(params) })
  const speaker = {
    revision,
    stateless,
    messages,
    until,
    begin,
    ask: (method: string, params?: Members) =>
      Effect.flatMap(begin(method, params), ({ reply }) => reply),
    notify,
    cancel: (id: number) => notify("notifications/cancelled", { requestId: id }),
  }
  if (!stateless) {
    yield* speaker.ask("initialize", { protocolVersion: revision, capabilities, clientInfo })
    yield* notify("notifications/initialized")
  }
  const converse = (stateless ? repeating : conversing)({ speaker, send })
  return { ...speaker, converse }
})
