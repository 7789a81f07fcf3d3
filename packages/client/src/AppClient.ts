/**
 * The client of the dialect `app-server`: introduces itself, answers questions, and provides the
 * events of conversations as streams. Every method of the dialect can be called through `client`.
 */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import {
  ApplyPatchApproval,
  ElicitationRequest,
  ExecCommandApproval,
} from "@colloquy/protocol/app/Approvals"
import {
  CancelRequest,
  ConversationClosed,
  ConversationLagged,
  ConversationSkipped,
  ConversationSynced,
  type EventParams,
  eventNotification,
} from "@colloquy/protocol/app/Events"
import {
  AddConversationListener,
  RemoveConversationListener,
} from "@colloquy/protocol/app/Messages"
import { Initialize, Initialized } from "@colloquy/protocol/app/Session"
import type { Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import { eventTypes } from "@colloquy/protocol/EventMsg"
import type { ParsedCommand } from "@colloquy/protocol/events/CommandEvents"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Dialect, Handlers, Params, ResultOf } from "@colloquy/protocol/Method"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Cancel from "./Cancel.ts"
import * as Client from "./Client.ts"
import * as EventStream from "./internal/EventStream.ts"
import * as Subscribers from "./internal/Subscribers.ts"

type MethodsOf<D> = D extends Dialect<infer C, infer S> ? { readonly c: C; readonly s: S } : never
type ClientMethods = MethodsOf<typeof AppServer>["c"]
type ServerMethods = MethodsOf<typeof AppServer>["s"]
type ServerHandlers = Partial<Handlers<ServerMethods, Client.ServerCall>>

/** A message about a conversation: an event, or a marker of the stream. */
export type ConversationMessage = Subscribers.ConversationMessage
/** The server cannot record the conversation any more. See `Subscribers`. */
export const ConversationFailed = Subscribers.ConversationFailed
/** The server cannot record the conversation any more. See `Subscribers`. */
export type ConversationFailed = Subscribers.ConversationFailed

/** A question of a conversation: may this command run, or may these files be changed? */
export type Approval =
  | {
      readonly _tag: "Command"
      readonly conversationId: string
      readonly callId: string
      /** The program and its arguments, exactly as they will run. */
      readonly command: ReadonlyArray<string>
      readonly cwd: string
      readonly reason?: string
      /**
       * What the command does, as far as the server recognizes it; empty from servers of the older
       * wire.
       */
      readonly parsed: ReadonlyArray<ParsedCommand>
    }
  | {
      readonly _tag: "Patch"
      readonly conversationId: string
      readonly callId: string
      /** By absolute path. */
      readonly changes: Readonly<Record<string, FileChange>>
      readonly reason?: string
      /** Directory for which writing is requested until the conversation ends. */
      readonly grantRoot?: string
    }

/** The form that a tool server of a conversation asks to have filled in. */
export type Form = Params<typeof ElicitationRequest>
/** The answer to a form. */
export type FormAnswer = ResultOf<typeof ElicitationRequest>

/** Who the client is, and what it answers. */
export interface ConnectOptions {
  readonly clientInfo: Params<typeof Initialize>["clientInfo"]
  /**
   * Answers the questions of every conversation that has a listener of this client. Questions are
   * answered concurrently. The handler of a question that was resolved elsewhere is interrupted. An
   * error denies. Without this handler the client is never asked.
   */
  readonly onApproval?: (approval: Approval) => Effect.Effect<ReviewDecision, JsonRpcError>
  /**
   * Shows the forms of tool servers. Runs like `onApproval`; an error declines. Without this
   * handler the server asks other clients, or none.
   */
  readonly onForm?: (form: Form) => Effect.Effect<FormAnswer, JsonRpcError>
  /**
   * Handlers of notifications other than events and questions, such as the end of a login. See
   * `ClientOptions.handlers`.
   */
  readonly handlers?: ServerHandlers
}

/** Which events a stream delivers. */
export type EventsOptions = EventStream.EventsOptions

/** A connected client. */
export interface AppClient extends EventStream.EventSource {
  /** Calls any method of the dialect. */
  readonly client: Client.Client<ClientMethods>
  /** The server's response to `initialize`. */
  readonly server: ResultOf<typeof Initialize>
  /**
   * The events of a conversation from `after` on, in order. No durable event is missing or
   * repeated, however slowly the stream is read. Ends when the conversation ends or is archived.
   * Each run of the stream has a listener of its own. Fails with `ConversationFailed` when the
   * server cannot record the conversation any more, and with `ConnectionClosed` when the connection
   * ends; `ReconnectingEvents.events` continues over the next connection.
   */
  readonly events: (
    conversationId: string,
    options?: EventsOptions,
  ) => Stream.Stream<ConversationMessage, JsonRpcError | ConnectionClosed | ConversationFailed>
  /** True after the end of the connection. */
  readonly isClosed: () => boolean
}

// Both sides cancel requests with this notification. A cancelled request is forgotten here, and its
// error response is ignored.
const cancel = Cancel.make(CancelRequest, { params: (id) => ({ id }), id: ({ id }) => id })

const commandOf = (params: Params<typeof ExecCommandApproval>): Approval => {
  const { command, cwd, reason } = params
  const rest = { command, cwd, ...(reason === undefined ? {} : { reason }) }
  return "callId" in params
    ? {
        _tag: "Command",
        conversationId: params.conversationId,
        callId: params.callId,
        parsed: params.parsedCmd,
        ...rest,
      }
    : {
        _tag: "Command",
        conversationId: params.conversation_id,
        callId: params.call_id,
        parsed: [],
        ...rest,
      }
}

const patchOf = (params: Params<typeof ApplyPatchApproval>): Approval => {
  const old = "call_id" in params
  const grantRoot = old ? params.grant_root : params.grantRoot
  return {
    _tag: "Patch",
    conversationId: old ? params.conversation_id : params.conversationId,
    callId: old ? params.call_id : params.callId,
    changes: old ? params.file_changes : params.fileChanges,
    ...(params.reason === undefined ? {} : { reason: params.reason }),
    ...(grantRoot === undefined ? {} : { grantRoot }),
  }
}

const approvalHandlers = (answer: NonNullable<ConnectOptions["onApproval"]>): ServerHandlers => {
  const decided = (approval: Approval) => Effect.map(answer(approval), (decision) => ({ decision }))
  return {
    [ExecCommandApproval._tag]: (params: Params<typeof ExecCommandApproval>) =>
      decided(commandOf(params)),
    [ApplyPatchApproval._tag]: (params: Params<typeof ApplyPatchApproval>) =>
      decided(patchOf(params)),
  }
}

const eventHandlers = (subscribers: Subscribers.Subscribers): ServerHandlers => ({
  ...Object.fromEntries(
    eventTypes.map((type) => [
      eventNotification(type)._tag,
      (params: EventParams) => Effect.sync(() => subscribers.onEvent(params)),
    ]),
  ),
  [ConversationSynced._tag]: (params: Params<typeof ConversationSynced>) =>
    Effect.sync(() => subscribers.onSynced(params)),
  [ConversationSkipped._tag]: (params: Params<typeof ConversationSkipped>) =>
    Effect.sync(() => subscribers.onSkipped(params)),
  [ConversationLagged._tag]: (params: Params<typeof ConversationLagged>) =>
    Effect.sync(() => subscribers.onLagged(params)),
  [ConversationClosed._tag]: (params: Params<typeof ConversationClosed>) =>
    Effect.sync(() => subscribers.onClosed(params)),
})

const subscriptionOf = (result: unknown): string | undefined =>
  typeof result === "object" &&
  result !== null &&
  "subscriptionId" in result &&
  typeof result.subscriptionId === "string"
    ? result.subscriptionId
    : undefined

class ConnectedApp implements AppClient {
  readonly client: AppClient["client"]
  readonly server: AppClient["server"]
  readonly closed: Effect.Effect<void>
  readonly isClosed: () => boolean
  private readonly listeners: Listeners

  constructor(listeners: Listeners, server: AppClient["server"]) {
    this.client = listeners.client
    this.server = server
    this.closed = Deferred.await(listeners.closed)
    this.isClosed = () => Deferred.isDoneUnsafe(listeners.closed)
    this.listeners = listeners
  }

  readonly events: AppClient["events"] = (conversationId, options) =>
    EventStream.eventStream(
      { current: Effect.succeed(this), reconnects: false },
      conversationId,
      options,
    )

  readonly subscribe: AppClient["subscribe"] = (conversationId, subscriber, raw) =>
    this.client
      .request(
        AddConversationListener,
        { conversationId, after: subscriber.cursor, experimentalRawEvents: raw },
        {
          // The first events may arrive in the same chunk as the response, so the listener is
          // registered before they are handled.
          onResult: (result) => {
            const id = subscriptionOf(result)
            if (id !== undefined) this.listeners.subscribers.add(id, subscriber)
          },
        },
      )
      .pipe(
        // If the stream is stopped before the response, the subscription must still be removed, so
        // a detached fiber waits for the response, at most until the connection ends.
        Effect.forkDetach({ startImmediately: true }),
        Effect.flatMap(Fiber.join),
        Effect.asVoid,
      )

  readonly unsubscribe: AppClient["unsubscribe"] = (id) =>
    Effect.suspend(() =>
      this.listeners.subscribers.remove(id) ? this.listeners.removeAtServer(id) : Effect.void,
    )
}

/** The listeners of a connection, and the client whose handlers feed them. */
interface Listeners {
  readonly client: Client.Client<ClientMethods>
  readonly subscribers: Subscribers.Subscribers
  /** Completed at the end of the connection, after all listeners were released. */
  readonly closed: Deferred.Deferred<void>
  /** Removes a listener at the server, without waiting for the response. */
  readonly removeAtServer: (subscriptionId: string) => Effect.Effect<void>
}

const makeListeners = Effect.fnUntraced(function* (
  connection: Connection,
  { handlers = {}, onApproval, onForm }: ConnectOptions,
) {
  const scope = yield* Effect.scope
  const closed = Deferred.makeUnsafe<void>()
  const fork = Effect.runForkWith(yield* Effect.context())
  const removeAtServer = (subscriptionId: string): Effect.Effect<void> =>
    client.request(RemoveConversationListener, { subscriptionId }).pipe(
      Effect.asVoid,
      // The connection has ended, and the listener with it.
      Effect.catch((error) => Effect.logDebug(`a listener was not removed: ${String(error)}`)),
      Effect.forkIn(scope),
      Effect.asVoid,
    )
  const subscribers = Subscribers.make((id) => {
    fork(removeAtServer(id))
  })
  const client: Client.Client<ClientMethods> = yield* Client.make(AppServer, connection, {
    cancel,
    handlers: {
      ...handlers,
      ...eventHandlers(subscribers),
      ...(onApproval === undefined ? {} : approvalHandlers(onApproval)),
      ...(onForm === undefined ? {} : { [ElicitationRequest._tag]: (form: Form) => onForm(form) }),
    },
  })
  const release = Effect.sync(() => {
    subscribers.end()
    Deferred.doneUnsafe(closed, Effect.void)
  })
  yield* client.closed.pipe(
    Effect.ensuring(release),
    Effect.forkIn(scope, { startImmediately: true }),
  )
  const listeners: Listeners = { client, subscribers, closed, removeAtServer }
  return listeners
})

/** Introduces the client to the server and returns it; the client is released with the scope. */
export const connect: (
  connection: Connection,
  options: ConnectOptions,
) => Effect.Effect<AppClient, JsonRpcError | ConnectionClosed, Scope.Scope> = Effect.fn(
  "AppClient.connect",
)(function* (connection, options) {
  const listeners = yield* makeListeners(connection, options)
  const { clientInfo, onApproval, onForm } = options
  const approvals = onApproval === undefined ? ("none" as const) : ("camelCase" as const)
  const server = yield* listeners.client.request(Initialize, {
    clientInfo,
    capabilities: { approvals, ...(onForm === undefined ? {} : { elicitation: true }) },
  })
  yield* listeners.client.notify(Initialized, undefined)
  return new ConnectedApp(listeners, server)
})
