/**
 * The client of the dialect `app-server`: who it is, the questions it answers, and the events of conversations as
 * streams. Every method of the dialect goes through `client`.
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
import * as Following from "./ReconnectingEvents.ts"
import * as Subscribers from "./internal/Subscribers.ts"

type MethodsOf<D> = D extends Dialect<infer C, infer S> ? { readonly c: C; readonly s: S } : never
type ClientMethods = MethodsOf<typeof AppServer>["c"]
type ServerMethods = MethodsOf<typeof AppServer>["s"]
type ServerHandlers = Partial<Handlers<ServerMethods, Client.ServerCall>>

export type Told = Subscribers.Told
export const ConversationFailed = Subscribers.ConversationFailed
export type ConversationFailed = Subscribers.ConversationFailed

/** A question of a conversation: may this command run, may these files be changed? */
export type Approval =
  | {
      readonly _tag: "Command"
      readonly conversationId: string
      readonly callId: string
      /** What will run, word by word. */
      readonly command: ReadonlyArray<string>
      readonly cwd: string
      readonly reason?: string
      readonly parsed: ReadonlyArray<ParsedCommand>
    }
  | {
      readonly _tag: "Patch"
      readonly conversationId: string
      readonly callId: string
      /** By absolute path. */
      readonly changes: Readonly<Record<string, FileChange>>
      readonly reason?: string
      /** Asked for the rest of the conversation. */
      readonly grantRoot?: string
    }

/** What a tool server of a conversation asks to be filled in. */
export type Form = Params<typeof ElicitationRequest>
export type Filled = ResultOf<typeof ElicitationRequest>

export interface ConnectOptions {
  readonly clientInfo: Params<typeof Initialize>["clientInfo"]
  /**
   * Answers the questions of every conversation that is listened to. Questions run beside each other; one that somebody
   * else has answered is interrupted; an error is a denial. Without it the client is not asked.
   */
  readonly onApproval?: (approval: Approval) => Effect.Effect<ReviewDecision, JsonRpcError>
  /** Shows the forms of tool servers, likewise; an error declines. Without it others are asked, or nobody. */
  readonly onForm?: (form: Form) => Effect.Effect<Filled, JsonRpcError>
  /** Of what the server tells beside events and questions: the ends of logins, say. See `ClientOptions.handlers`. */
  readonly handlers?: ServerHandlers
}

export interface EventsOptions {
  /** The last event that is known, by `seq`; what came after it is told. Default -1: everything. */
  readonly after?: number
  /** True: what goes to the model and comes from it is told as well. */
  readonly raw?: boolean
}

export interface AppClient {
  readonly client: Client.Client<ClientMethods>
  /** The server's answer to `initialize`. */
  readonly server: ResultOf<typeof Initialize>
  /**
   * What a conversation tells from `after` on, in order: no event that is kept is missing or comes twice, however slowly
   * it is read. Ends with the conversation, as it does when it is archived. Each run of the stream listens for itself. Fails with
   * `ConversationFailed` when the server can record nothing of it any more, and with `ConnectionClosed` at the end of the
   * connection; `Following.events` continues over the next one.
   */
  readonly events: (
    conversationId: string,
    options?: EventsOptions,
  ) => Stream.Stream<Told, JsonRpcError | ConnectionClosed | ConversationFailed>
  /** Returns at the end of the connection, when all listeners have been let go of. */
  readonly closed: Effect.Effect<void>
  readonly isClosed: () => boolean
  /** For `Following`: listens for this subscriber; its `cursor` says from where. */
  readonly subscribe: (
    conversationId: string,
    subscriber: Subscribers.Subscriber,
    raw: boolean,
  ) => Effect.Effect<void, JsonRpcError | ConnectionClosed>
  /** For `Following`. Does not wait for the server. */
  readonly unsubscribe: (subscriptionId: string) => Effect.Effect<void>
}

// Both take back with it what they asked. What is taken back here is forgotten; the error that answers it is ignored.
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

/** Says who the client is, and gives it for the length of the scope. */
export const connect = (
  connection: Connection,
  { clientInfo, handlers = {}, onApproval, onForm }: ConnectOptions,
): Effect.Effect<AppClient, JsonRpcError | ConnectionClosed, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const closed = Deferred.makeUnsafe<void>()
    const fork = Effect.runForkWith(yield* Effect.context())
    const leave = (subscriptionId: string): Effect.Effect<void> =>
      client.request(RemoveConversationListener, { subscriptionId }).pipe(
        Effect.asVoid,
        // The connection has ended before: then nobody listens either.
        Effect.catch((error) => Effect.logDebug(`a listener was not removed: ${String(error)}`)),
        Effect.forkIn(scope),
        Effect.asVoid,
      )
    const subscribers = Subscribers.make((id) => {
      fork(leave(id))
    })
    const client: Client.Client<ClientMethods> = yield* Client.make(AppServer, connection, {
      cancel,
      handlers: {
        ...handlers,
        ...eventHandlers(subscribers),
        ...(onApproval === undefined ? {} : approvalHandlers(onApproval)),
        ...(onForm === undefined
          ? {}
          : { [ElicitationRequest._tag]: (form: Form) => onForm(form) }),
      },
    })
    yield* client.closed.pipe(
      Effect.ensuring(
        Effect.sync(() => {
          subscribers.end()
          Deferred.doneUnsafe(closed, Effect.void)
        }),
      ),
      Effect.forkIn(scope, { startImmediately: true }),
    )
    const approvals = onApproval === undefined ? ("none" as const) : ("camelCase" as const)
    const server = yield* client.request(Initialize, {
      clientInfo,
      capabilities: { approvals, ...(onForm === undefined ? {} : { elicitation: true }) },
    })
    yield* client.notify(Initialized, undefined)

    const subscribe: AppClient["subscribe"] = (conversationId, subscriber, raw) =>
      client
        .request(
          AddConversationListener,
          { conversationId, after: subscriber.cursor, experimentalRawEvents: raw },
          {
            // Its events follow the answer, and may stand in the same read.
            onResult: (result) => {
              const id = subscriptionOf(result)
              if (id !== undefined) subscribers.add(id, subscriber)
            },
          },
        )
        .pipe(
          // Who stops reading before the answer leaves a subscription that must be ended: the answer is waited for by
          // a fiber of its own, until the end of the connection at most.
          Effect.forkDetach({ startImmediately: true }),
          Effect.flatMap(Fiber.join),
          Effect.asVoid,
        )
    const app: AppClient = {
      client,
      server,
      closed: Deferred.await(closed),
      isClosed: () => Deferred.isDoneUnsafe(closed),
      subscribe,
      unsubscribe: (id) => Effect.suspend(() => (subscribers.remove(id) ? leave(id) : Effect.void)),
      events: (conversationId, options) => Following.over(app, conversationId, options),
    }
    return app
  })
