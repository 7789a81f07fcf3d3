/**
 * Runs a request of the handshake era (the revisions with `initialize`). The client's information and the revision are
 * those that the connection negotiated, and a question is sent as a request from the server to the client. A handler
 * runs once per request and is never run again.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { CreateMessage, RootsList } from "@colloquy/protocol/mcp/ClientFeatures"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { PeerControl, RequestCaller } from "../../jsonrpc/Caller.ts"
import {
  type ClientDeclared,
  type CoreHandler,
  type InputRequest,
  InputRequired,
  type InputResponse,
  type Members,
  type OtherResult,
  type RequestContext,
} from "../RequestContext.ts"
import type { Session } from "../Session.ts"
import { withoutNullMembers } from "./AnswerShapes.ts"
import { isMembers, missingIn, neededFor } from "./Capabilities.ts"
import { metaOf } from "./RequestMeta.ts"
import { logTo, progressTo, reporting } from "./RequestNotifications.ts"

const refusal = (missing: Members) =>
  new JsonRpcError({
    code: ErrorCode.invalidRequest,
    message: `the client did not declare the capability ${Object.keys(missing).join(", ")}`,
    data: { requiredCapabilities: missing },
  })

/** How long a question waits for its answer: the same time that a client of the stateless era has to return. */
const answerBound = "1 hour"

const unanswered = () =>
  new JsonRpcError({
    code: ErrorCode.serverError,
    message: "the client did not respond within an hour",
  })

/** Sends a question to the client as a JSON-RPC request. Resolves with the raw result of the client. */
export const put = (
  peer: PeerControl,
  { method, params = {} }: InputRequest,
): Effect.Effect<unknown, JsonRpcError | ConnectionClosed> => {
  switch (method) {
    case Elicit._tag:
      return peer.request(Elicit, params as Params<typeof Elicit>)
    case CreateMessage._tag:
      return peer.request(CreateMessage, params)
    case RootsList._tag:
      return peer.request(RootsList, params)
  }
}

const answered = (
  question: InputRequest,
  answer: unknown,
): Effect.Effect<InputResponse, JsonRpcError> =>
  isMembers(answer)
    ? Effect.succeed(withoutNullMembers(question, answer))
    : Effect.fail(
        new JsonRpcError({
          code: ErrorCode.internalError,
          message: "unusable answer of the client: expected an object",
        }),
      )

const contextOf = (
  { principal, session }: HandshakeConnection,
  caller: RequestCaller,
  meta: Members,
): RequestContext => {
  const peer = reporting(caller, caller.peer, meta)
  const client = session.client()
  const declared: ClientDeclared =
    client === undefined
      ? { capabilities: {} }
      : { info: client.clientInfo, capabilities: client.capabilities }

  const requires: RequestContext["requires"] = (capabilities) => {
    const missing = missingIn(declared.capabilities, capabilities)
    return missing === undefined ? Effect.void : Effect.fail(refusal(missing))
  }

  const ask: RequestContext["ask"] = <K extends string>(
    questions: Readonly<Record<K, InputRequest>>,
  ) =>
    Effect.gen(function* () {
      const asked = Object.entries<InputRequest>(questions)
      for (const [, question] of asked) yield* requires(neededFor(question))
      const answers = yield* Effect.forEach(
        asked,
        ([key, question]) =>
          Effect.map(
            Effect.flatMap(put(peer, question), (answer) => answered(question, answer)),
            (answer) => [key, answer] as const,
          ),
        { concurrency: "unbounded" },
      )
      return Object.fromEntries(answers) as Readonly<Record<K, InputResponse>>
    }).pipe(
      Effect.timeoutOrElse({ duration: answerBound, orElse: () => Effect.fail(unanswered()) }),
      Effect.catchTag("ConnectionClosed", ({ reason }) =>
        Effect.fail(new JsonRpcError({ code: ErrorCode.serverError, message: reason })),
      ),
    )

  return {
    era: "handshake",
    revision: session.revision(),
    client: declared,
    principal,
    requestId: caller.requestId,
    meta,
    peer,
    notify: peer.notify,
    afterAnswer: caller.afterAnswer,
    progress: progressTo(peer, meta),
    logLevel: () => session.logLevel,
    log: logTo(peer, () => session.logLevel),
    ask,
    requires,
    once: (_, effect) => effect,
  }
}

interface HandshakeConnection {
  readonly session: Session
  readonly principal: string
}

type Failing = JsonRpcError | InputRequired

/** True for a handler that has ended already, and not with a question. */
const hasEnded = <A>(run: Effect.Effect<A, Failing>): run is Exit.Exit<A, JsonRpcError> =>
  Exit.isExit(run) &&
  (Exit.isSuccess(run) ||
    !run.cause.reasons.some(
      (reason) => Cause.isFailReason(reason) && reason.error instanceof InputRequired,
    ))

/**
 * Runs the handler for one request. An `InputRequired` is a defect in this era, because the handler is never run again
 * with the answers.
 */
export const handshake = <P, R>(
  handler: CoreHandler<P, R>,
  params: P,
  connection: HandshakeConnection,
  caller: RequestCaller,
): Effect.Effect<R | OtherResult, JsonRpcError> => {
  const run = handler(params, contextOf(connection, caller, metaOf(params) ?? {}))
  // Without an effect around it its response needs no fiber.
  return hasEnded(run) ? run : Effect.catchTag(run, "InputRequired", (asked) => Effect.die(asked))
}
