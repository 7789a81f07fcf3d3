/**
 * The client of the dialect `app-server` for programs that do not use Effect: promises, an
 * `AsyncIterable` of events, callbacks for questions. A thin layer over `AppClient`.
 */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { NewConversation } from "@colloquy/protocol/app/Conversations"
import type { InputItem } from "@colloquy/protocol/app/InputItem"
import { InterruptConversation, SendUserMessage } from "@colloquy/protocol/app/Messages"
import type { Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { type Dialect, methodsOf, type Params, type ResultOf } from "@colloquy/protocol/Method"
import { nearest } from "@colloquy/protocol/Nearest"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import { unknownKey } from "@colloquy/protocol/UnknownKey"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AppClient from "./AppClient.ts"
import type { RequestOf } from "./Client.ts"

type MethodsOf<D> = D extends Dialect<infer C, infer _> ? C : never
type Methods = RequestOf<MethodsOf<typeof AppServer>>
type Named<Name> = Extract<Methods, { readonly _tag: Name }>

/** An event of a conversation. */
export type ConversationEvent = Extract<AppClient.ConversationMessage, { readonly _tag: "Event" }>

/** Who the client is, and what it answers. */
export interface ConnectOptions {
  readonly clientInfo: AppClient.ConnectOptions["clientInfo"]
  /**
   * Answers a question of a conversation that has a listener of this client. The signal is aborted
   * when the question has been resolved otherwise. A rejected promise denies. Without this callback
   * the client is never asked.
   */
  readonly onApproval?: (
    approval: AppClient.Approval,
    signal: AbortSignal,
  ) => Promise<ReviewDecision> | ReviewDecision
  /** Shows the form of a tool server. Called like `onApproval`; a rejected promise declines. */
  readonly onForm?: (
    form: AppClient.Form,
    signal: AbortSignal,
  ) => Promise<AppClient.FormAnswer> | AppClient.FormAnswer
}

/**
 * A connected client. Promises are rejected with the server's `JsonRpcError`, or with
 * `ConnectionClosed`, whose message says why a server process is gone. A misspelt method, member or
 * option is refused with the name that was meant.
 */
export interface PromiseClient {
  /** Name and version of the server. */
  readonly userAgent: string
  /** Creates a conversation. */
  readonly newConversation: (
    params?: Params<typeof NewConversation>,
  ) => Promise<ResultOf<typeof NewConversation>>
  /**
   * Resolves when the server has accepted the message. The resulting events are delivered by
   * `events`.
   */
  readonly sendUserMessage: (
    conversationId: string,
    message: string | ReadonlyArray<InputItem>,
    options?: Omit<Params<typeof SendUserMessage>, "conversationId" | "items">,
  ) => Promise<ResultOf<typeof SendUserMessage>>
  /** Interrupts the running turn of a conversation. */
  readonly interruptConversation: (
    conversationId: string,
  ) => Promise<ResultOf<typeof InterruptConversation>>
  /**
   * The events from `after` on (default: all), each once, in order. Each iteration has a listener
   * of its own, which is removed when the iteration is left. Ends with `close` and when the
   * conversation ends or is archived; throws when the connection ends otherwise.
   */
  readonly events: (
    conversationId: string,
    options?: AppClient.EventsOptions,
  ) => AsyncIterable<ConversationEvent>
  /** Calls any other request method of the dialect by its name. */
  readonly request: <Name extends Methods["_tag"]>(
    method: Name,
    params: Params<Named<Name>>,
  ) => Promise<ResultOf<Named<Name>>>
  /** Releases the connection. A process that was started for it ends. */
  readonly close: () => Promise<void>
}

const handlerOf =
  <Question, Answer>(
    answer: (question: Question, signal: AbortSignal) => Promise<Answer> | Answer,
  ) =>
  (question: Question): Effect.Effect<Answer, JsonRpcError> =>
    Effect.tryPromise({
      try: (signal) => Promise.resolve(answer(question, signal)),
      catch: (error) =>
        new JsonRpcError({
          code: ErrorCode.internalError,
          message: `the client could not decide: ${error instanceof Error ? error.message : String(error)}`,
        }),
    })

const methods = methodsOf(AppServer.clientToServer)

const unknownMethod = (name: string) => {
  const meant = nearest(name, [...methods.keys()])
  const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`
  return new JsonRpcError({
    code: ErrorCode.methodNotFound,
    message: `unknown method \`${name}\`${hint}`,
  })
}

/** Options of a function, refused when one has another name: a program without types would not notice. */
const checkOptions = (what: string, options: object, known: ReadonlyArray<string>): void => {
  const found = unknownKey(options, known)
  if (found !== undefined) {
    throw new TypeError(`${what}: unknown option \`${found.key}\`; ${found.hint}`)
  }
}

const textItem = (text: string): InputItem => ({ type: "text", data: { text } })

const facade = (app: AppClient.AppClient, scope: Scope.Closeable): PromiseClient => {
  let closing = false
  const request: PromiseClient["request"] = (name, params) => {
    const method = methods.get(name) as unknown as Named<typeof name> | undefined
    if (method === undefined) return Promise.reject(unknownMethod(name))
    return Effect.runPromise(app.client.request(method, params))
  }
  return {
    userAgent: app.server.userAgent,
    request,
    newConversation: (params = {}) =>
      Effect.runPromise(app.client.request(NewConversation, params)),
    sendUserMessage: (conversationId, message, options = {}) =>
      Effect.runPromise(
        app.client.request(SendUserMessage, {
          conversationId,
          items: typeof message === "string" ? [textItem(message)] : message,
          ...options,
        }),
      ),
    interruptConversation: (conversationId) =>
      Effect.runPromise(app.client.request(InterruptConversation, { conversationId })),
    events: (conversationId, options = {}) => {
      checkOptions("events", options, ["after", "raw"])
      return app.events(conversationId, options).pipe(
        Stream.filter((message): message is ConversationEvent => message._tag === "Event"),
        Stream.catchIf(
          (error) => closing && error._tag === "ConnectionClosed",
          () => Stream.empty,
        ),
        Stream.toAsyncIterable,
      )
    },
    close: () => {
      closing = true
      return Effect.runPromise(Scope.close(scope, Exit.void))
    },
  }
}

/**
 * Introduces the client to the server and returns it.
 *
 * @param connection an open connection, or an effect that opens one, such as `StdioCommand.open` of
 * the stdio transport, which starts a server
 */
export const connect = async (
  connection: Connection | Effect.Effect<Connection, ConnectionClosed, Scope.Scope>,
  options: ConnectOptions,
): Promise<PromiseClient> => {
  checkOptions("connect", options, ["clientInfo", "onApproval", "onForm"])
  const { clientInfo, onApproval, onForm } = options
  const scope = Scope.makeUnsafe()
  const connected = Effect.gen(function* () {
    const open = Effect.isEffect(connection) ? yield* connection : connection
    return yield* AppClient.connect(open, {
      clientInfo,
      ...(onApproval === undefined ? {} : { onApproval: handlerOf(onApproval) }),
      ...(onForm === undefined ? {} : { onForm: handlerOf(onForm) }),
    })
  })
  const app = await Effect.runPromise(
    Scope.provide(connected, scope).pipe(Effect.onError(() => Scope.close(scope, Exit.void))),
  )
  return facade(app, scope)
}
