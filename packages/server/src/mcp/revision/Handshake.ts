/**
 * Requests of the revisions with `initialize`: who asks is what the connection agreed on, and a question is a request
 * of ours to the client.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { ErrorCode, JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import { CreateMessage, RootsList } from "@colloquy/protocol/mcp/ClientFeatures"
import { Elicit, Progress, type ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import { LoggingLevel, LogMessage } from "@colloquy/protocol/mcp/Logging"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { Caller, PeerControl } from "../../Peer.ts"
import type {
  ClientDeclared,
  CoreHandler,
  InputRequest,
  InputResponse,
  Members,
  RequestContext,
} from "../RequestContext.ts"
import type { Session } from "../Session.ts"
import { missingIn, neededFor } from "./Capabilities.ts"

/** Who connects over a pipe: the one who started the process. */
export const localPrincipal = "local"

const refusal = (missing: Members) =>
  new JsonRpcError({
    code: ErrorCode.invalidRequest,
    message: `the client did not declare the capability ${Object.keys(missing).join(", ")}`,
    data: { requiredCapabilities: missing },
  })

const put = (
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

const answered = (answer: unknown): Effect.Effect<InputResponse, JsonRpcError> =>
  typeof answer === "object" && answer !== null && !Array.isArray(answer)
    ? Effect.succeed(answer as InputResponse)
    : Effect.fail(
        new JsonRpcError({
          code: ErrorCode.internalError,
          message: "unusable answer of the client: expected an object",
        }),
      )

class HandshakeContext implements RequestContext {
  readonly era = "handshake"
  readonly principal = localPrincipal
  readonly requestId: RequestId
  readonly meta: Members
  readonly peer: PeerControl
  readonly afterAnswer: RequestContext["afterAnswer"]
  private readonly session: Session

  constructor(session: Session, caller: Required<Caller>, meta: Members) {
    this.session = session
    this.requestId = caller.requestId
    this.peer = caller.peer
    this.afterAnswer = caller.afterAnswer
    this.meta = meta
  }

  get revision() {
    return this.session.revision()
  }

  get client(): ClientDeclared {
    const client = this.session.client()
    return client === undefined
      ? { capabilities: {} }
      : { info: client.clientInfo, capabilities: client.capabilities }
  }

  get notify() {
    return this.peer.notify
  }

  readonly progress: RequestContext["progress"] = (progress, total, message) => {
    const token = this.meta["progressToken"]
    if (token === undefined || token === null) return Effect.void
    return this.peer.notify(Progress, [
      {
        progressToken: token as ProgressToken,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      },
    ])
  }

  readonly log: RequestContext["log"] = (level, data, logger) => {
    const { literals } = LoggingLevel
    if (literals.indexOf(level) < literals.indexOf(this.session.logLevel)) return Effect.void
    return this.peer.notify(LogMessage, [
      { level, ...(logger === undefined ? {} : { logger }), data },
    ])
  }

  readonly requires: RequestContext["requires"] = (capabilities) =>
    Effect.suspend(() => {
      const missing = missingIn(this.client.capabilities, capabilities)
      return missing === undefined ? Effect.void : Effect.fail(refusal(missing))
    })

  readonly ask: RequestContext["ask"] = (questions) =>
    Effect.forEach(Object.values<InputRequest>(questions), (one) => this.requires(neededFor(one)), {
      discard: true,
    }).pipe(
      Effect.andThen(
        Effect.all(
          Object.fromEntries(
            Object.entries<InputRequest>(questions).map(([key, question]) => [
              key,
              Effect.flatMap(put(this.peer, question), answered),
            ]),
          ),
          { concurrency: "unbounded" },
        ),
      ),
      Effect.catchTag("ConnectionClosed", ({ reason }) =>
        Effect.fail(new JsonRpcError({ code: ErrorCode.serverError, message: reason })),
      ),
    ) as ReturnType<RequestContext["ask"]>

  readonly once: RequestContext["once"] = (_, effect) => effect
}

/** The handler as the Peer calls it. Nobody is told of an `InputRequired`: nothing here is run again. */
export const handshake =
  <P extends { readonly _meta?: Members | undefined } | undefined, R>(
    session: Session,
    handler: CoreHandler<P, R>,
  ) =>
  (params: P, caller: Caller): Effect.Effect<R, JsonRpcError> => {
    const { afterAnswer, peer, requestId } = caller
    if (requestId === undefined || afterAnswer === undefined) {
      return Effect.die("a request without an id")
    }
    const context = new HandshakeContext(
      session,
      { afterAnswer, peer, requestId },
      params?._meta ?? {},
    )
    return Effect.catchTag(handler(params, context), "InputRequired", (asked) => Effect.die(asked))
  }
