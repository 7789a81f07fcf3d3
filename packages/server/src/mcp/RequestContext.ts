/**
 * What the handler of a request gets with its params, in every revision: who asks, and what it can tell and ask on the
 * way to its answer. Two makers fill it, one per era (`revision/`). A plain object: who runs a handler in another way
 * gives it another `ask` by spreading.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError, RequestId } from "@colloquy/protocol/JsonRpc"
import type { CreateMessage, RootsList } from "@colloquy/protocol/mcp/ClientFeatures"
import type { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import type { LoggingLevel } from "@colloquy/protocol/mcp/Logging"
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { PeerControl } from "../jsonrpc/Caller.ts"

/** `handshake`: agreed by `initialize`, once per connection. `stateless`: said by each request. */
export type Era = "handshake" | "stateless"

/** The members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** What the client declared about itself. */
export interface ClientDeclared {
  /** Absent before `initialize`, and in a stateless request that does not say it. */
  readonly info?: {
    readonly name: string
    readonly version: string
    readonly title?: string | undefined
  }
  readonly capabilities: Members
}

/** One question to the client: a request of the specification, by its method and its params as they are on the wire. */
export interface InputRequest {
  readonly method: typeof Elicit._tag | typeof CreateMessage._tag | typeof RootsList._tag
  readonly params?: Members
}

/** What a client answered: the result of that request, shaped as its method says. */
export type InputResponse = Members

/**
 * The run of a handler ends here: the client has to answer first, and calls again. Never seen in the old era, nor by
 * whoever runs a task. A handler that catches errors lets it pass.
 */
export class InputRequired extends Data.TaggedError("InputRequired")<{
  readonly inputRequests: Readonly<Record<string, InputRequest>>
  /** JSON that comes back with the answers, sealed on the way; absent when there is none to keep. */
  readonly state?: unknown
}> {}

/** A result of another kind than its method's own, as it goes on the wire; `resultType` is told in the stateless era alone. */
export class OtherResult extends Data.Class<{
  readonly resultType: string
  readonly members: Members
}> {}

/** What a client came back with, for handlers that keep their own state between rounds. */
interface Rounds {
  /** Undefined for a first call. `responses` are those to what was asked last, of any shape. */
  readonly resumed: { readonly state: unknown; readonly responses: Members } | undefined
}

/** The task that a call runs in. */
export interface TaskHandle {
  readonly id: string
  /** What the work is at, for a person: the status message of the task until it has ended. */
  readonly say: (message: string) => Effect.Effect<void>
}

/** One request, as its handler sees it: the client, the principal, progress, log messages, questions and the task, if any. */
export interface RequestContext {
  readonly era: Era
  readonly revision: Revision
  readonly client: ClientDeclared
  /** Who asks, as the transport knows it; over stdio everybody is the same. */
  readonly principal: string
  readonly requestId: RequestId
  /** `_meta` of the request; `{}` without one. */
  readonly meta: Members
  /** The connection of the request. In the stateless era nothing is asked through it: `request` fails. */
  readonly peer: PeerControl
  /** On the request's own stream, in order; waits while the client does not read. */
  readonly notify: PeerControl["notify"]
  /**
   * Runs once the answer was accepted, before anything else of the request; the last given counts (L2). `over` is called
   * when the request is over; `sent`: its answer may have gone out, also where the effect did not run.
   */
  readonly afterAnswer: (effect: Effect.Effect<void>, over?: (sent: boolean) => void) => void
  /** `notifications/progress`, for a request that named a token; a `progress` that does not rise is not told. */
  readonly progress: (
    progress: number,
    total?: number,
    message?: string,
  ) => Effect.Effect<void, ConnectionClosed>
  /** The least severe messages that the client wants; undefined: none. */
  readonly logLevel: () => LoggingLevel | undefined
  /** `notifications/message`, when the client asked for that level or a less severe one. */
  readonly log: (
    level: LoggingLevel,
    data: unknown,
    logger?: string,
  ) => Effect.Effect<void, ConnectionClosed>
  /**
   * Asks the client all of them at once and gives an answer for each, of the shape its method says. Fails when the
   * client did not declare that it can answer, with its error, or with `InputRequired` where the handler will be run
   * again: what was answered is then given at once. Keys are unique in the request.
   */
  readonly ask: <K extends string>(
    questions: Readonly<Record<K, InputRequest>>,
  ) => Effect.Effect<Readonly<Record<K, InputResponse>>, JsonRpcError | InputRequired>
  /** Fails as the revision says unless the client declared all of it: `{ sampling: {} }`. */
  readonly requires: (capabilities: Members) => Effect.Effect<void, JsonRpcError>
  /** Runs the effect in the first run of the handler only; later runs of the same call get its result, a JSON value. */
  readonly once: <A, E, R>(key: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * The task whose work this is, or may become: a call of 2026-07-28 whose result is not there soon, or that asks
   * something, is answered with this task. No client knows the id before.
   */
  readonly task?: TaskHandle
  /** Only where a handler is run again. */
  readonly rounds?: Rounds
}

/** A handler of a request: the same for every revision that knows its method. */
export type CoreHandler<Params, Result> = (
  params: Params,
  context: RequestContext,
) => Effect.Effect<Result | OtherResult, JsonRpcError | InputRequired>
