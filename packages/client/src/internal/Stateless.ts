/**
 * The client's side of MCP revisions without a handshake: every request states who the client is,
 * and a response that contains questions is answered by sending the request again with the answers,
 * until there is a result.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import type { InitializeParams } from "@colloquy/protocol/mcp/Initialize"
import type { ElicitParams, ElicitResult } from "@colloquy/protocol/mcp/Elicitation"
import { MetaKey } from "@colloquy/protocol/mcp/Revisions"
import { codecOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { Exchange } from "../Client.ts"

type Members = Readonly<Record<string, unknown>>

/** What the client states about itself in every request. */
export interface ClientStatement {
  readonly revision: string
  readonly clientInfo: InitializeParams["clientInfo"]
  readonly capabilities: InitializeParams["capabilities"]
}

/** Answers a question of the server. */
export type ElicitationHandler = (
  question: ElicitParams,
) => Effect.Effect<ElicitResult, JsonRpcError>

/** Limit for a server that never stops asking. */
const maxRequests = 64
/** Questions of one response that are answered at the same time; how many there are is up to the server. */
const maxQuestions = 16

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const membersOf = (u: unknown): Members => (isMembers(u) ? u : {})

const unusable = (message: string) => new JsonRpcError({ code: ErrorCode.internalError, message })

const answerTo = (request: unknown, answer: ElicitationHandler | undefined) => {
  const { method, params } = membersOf(request)
  if (method !== Elicit._tag || answer === undefined) {
    return Effect.fail(
      unusable(`the server asks ${JSON.stringify(method)}, and there is no handler for it`),
    )
  }
  const question = codecOf(Elicit).decodeParams(params)
  return question._tag === "Failure"
    ? Effect.fail(unusable(`unusable question of the server: ${question.failure.message}`))
    : // No answer: the result `cancel` states that no choice was made.
      Effect.orElseSucceed(answer(question.success as ElicitParams), (): ElicitResult => ({
        action: "cancel",
      }))
}

const answersTo = (requests: Members, answer: ElicitationHandler | undefined) =>
  Effect.map(
    Effect.forEach(
      Object.entries(requests),
      ([key, request]) =>
        Effect.map(answerTo(request, answer), (response) => [key, response] as const),
      { concurrency: maxQuestions },
    ),
    (entries): Members => Object.fromEntries(entries),
  )

/**
 * The state that the next request repeats unchanged. A member that is null counts as absent, as everywhere in what a peer
 * sends: the specification knows texts only, and a server would refuse anything else.
 */
const stateIn = (state: unknown): Effect.Effect<Members, JsonRpcError> => {
  if (state === undefined || state === null) return Effect.succeed({})
  return typeof state === "string"
    ? Effect.succeed({ requestState: state })
    : Effect.fail(unusable("unusable `requestState` of the server: expected a string"))
}

/**
 * Performs a call of a revision without a handshake.
 *
 * @param statement read at each request, because the client learns during the handshake what to state
 */
export const exchange = (
  statement: () => ClientStatement | undefined,
  answer: ElicitationHandler | undefined,
): Exchange => {
  const withStatement = (
    params: Members,
    { capabilities, clientInfo, revision }: ClientStatement,
  ): Members => ({
    ...params,
    _meta: {
      [MetaKey.protocolVersion]: revision,
      [MetaKey.clientInfo]: clientInfo,
      [MetaKey.clientCapabilities]: capabilities,
      ...membersOf(params["_meta"]),
    },
  })

  return Effect.fnUntraced(function* (given, send) {
    const stated = statement()
    if (stated === undefined) return yield* send(given)
    const params = membersOf(given)
    let result = yield* send(withStatement(params, stated))
    for (let sent = 0; sent < maxRequests; sent++) {
      const { inputRequests, requestState, resultType } = membersOf(result)
      if (resultType !== "input_required") return result
      const inputResponses = yield* answersTo(membersOf(inputRequests), answer)
      const state = yield* stateIn(requestState)
      result = yield* send(withStatement({ ...params, inputResponses, ...state }, stated))
    }
    return yield* unusable(`the server asked more than ${maxRequests} times`)
  })
}
