/**
 * The context that the handler of a request gets with its params, in every revision: the client, and the means to
 * notify it and to ask it questions before the response. Two modules create it, one per era (`eras/`). It is a plain
 * object, so that code that runs a handler in another way, such as a task, can replace `ask` by spreading.
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

/**
 * `handshake`: `initialize` chooses the revision, once per connection. `stateless`: each request names its revision.
 */
export type Era = "handshake" | "stateless"

/** The members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** What the client declared about itself. */
export interface ClientDeclared {
  /** Absent before `initialize`, and in a stateless request that does not declare it. */
  readonly info?: {
    readonly name: string
    readonly version: string
    readonly title?: string | undefined
  }
  readonly capabilities: Members
}

/** One question to the client: the method and wire params of a request that the specification defines. */
export interface InputRequest {
  readonly method: typeof Elicit._tag | typeof CreateMessage._tag | typeof RootsList._tag
  readonly params?: Members
}

/** The client's answer to a question: the result of that request, in the shape that its method defines. */
export type InputResponse = Members

/**
 * Ends the run of a handler: the client must answer first, and then calls again. Never fails a handler in the handshake
 * era or in a task. A handler that catches errors must not catch this one.
 */
export class InputRequired extends Data.TaggedError("InputRequired")<{
  readonly inputRequests: Readonly<Record<string, InputRequest>>
  /** JSON that the client returns with the answers; it is sealed meanwhile. Absent if there is no state to keep. */
  readonly state?: unknown
}> {}

/** A result of another type than the method defines, in wire form. `resultType` is sent in the stateless era only. */
export class OtherResult extends Data.Class<{
  readonly resultType: string
  readonly members: Members
}> {}

/** The state and the answers that a client returned, for handlers that keep their own state between requests. */
interface Continuation {
  /** Undefined for a first call. `responses` are the answers to the questions in the last response, of any shape. */
  readonly resumed: { readonly state: unknown; readonly responses: Members } | undefined
}

/** The task that a call runs in. */
export interface TaskHandle {
  readonly id: string
  /** Sets the status message of the task, a text for people, until the task has ended. */
  readonly setStatus: (message: string) => Effect.Effect<void>
}

/**
 * One request, as its handler sees it: the client, the principal, progress, log messages, questions and the task, if
 * any.
 */
export interface RequestContext {
  readonly era: Era
  readonly revision: Revision
  readonly client: ClientDeclared
  /** On whose behalf the client acts, as the transport knows it. Over stdio there is only one principal. */
  readonly principal: string
  readonly requestId: RequestId
  /** `_meta` of the request; `{}` without one. */
  readonly meta: Members
  /** The peer of the request's connection. In the stateless era its `request` fails. */
  readonly peer: PeerControl
  /** Sends notifications in order on the stream of this request. Waits while the client does not read. */
  readonly notify: PeerControl["notify"]
  /**
   * Registers an effect that runs once the response was accepted, before anything else of the request (L2). Only the
   * last registration counts. `over` is called when the request has ended; `sent`: whether the response may have
   * reached the client, also where the effect did not run.
   */
  readonly afterAnswer: (effect: Effect.Effect<void>, over?: (sent: boolean) => void) => void
  /** Sends `notifications/progress` if the request has a progress token. A value that does not increase is dropped. */
  readonly progress: (
    progress: number,
    total?: number,
    message?: string,
  ) => Effect.Effect<void, ConnectionClosed>
  /** Least severe level of log messages that the client wants; undefined if it wants none. */
  readonly logLevel: () => LoggingLevel | undefined
  /** Sends `notifications/message` if the client wants messages of that level. */
  readonly log: (
    level: LoggingLevel,
    data: unknown,
    logger?: string,
  ) => Effect.Effect<void, ConnectionClosed>
  /**
   * Asks the client all questions at once. Resolves with an answer for each key. Fails if the client did not declare
   * the needed capability, with the client's error, or with `InputRequired` where the handler will run again; the next
   * run gets the answers at once. Keys must be unique within the request.
   */
  readonly ask: <K extends string>(
    questions: Readonly<Record<K, InputRequest>>,
  ) => Effect.Effect<Readonly<Record<K, InputResponse>>, JsonRpcError | InputRequired>
  /**
   * Fails with the error of the revision unless the client declared all these capabilities, such as `{ sampling: {} }`.
   */
  readonly requires: (capabilities: Members) => Effect.Effect<void, JsonRpcError>
  /** Runs the effect in the first run of the handler only; later runs of the same call get its result, a JSON value. */
  readonly once: <A, E, R>(key: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * The task that this request runs in or may become: a call of 2026-07-28 that takes long, or that asks a question, is
   * answered with this task. The client does not know the id before that response.
   */
  readonly task?: TaskHandle
  /** Present only where a handler runs again with the answers: in the stateless era, outside a task. */
  readonly continuation?: Continuation
}

/** A handler of a request: the same for every revision that knows its method. */
export type CoreHandler<Params, Result> = (
  params: Params,
  context: RequestContext,
) => Effect.Effect<Result | OtherResult, JsonRpcError | InputRequired>
