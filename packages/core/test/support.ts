/** Fixtures of the core's tests: settings, scripted models and tools, readers of listeners. */
import { type Event, type EventMsg, isEphemeral, isTerminal } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type {
  FunctionCallItem,
  MessageItem,
  ResponseItem,
  TokenUsage,
} from "@colloquy/protocol/ResponseItem"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Conversation from "../src/Conversation.ts"
import { LogFold } from "../src/recovery/LogFold.ts"
import { eventRecord } from "../src/LogRecord.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import * as Conversations from "../src/manager/Conversations.ts"
import { type ConversationSettings, SettingsResolver } from "../src/ConversationSettings.ts"
import { IdGenerator } from "../src/IdGenerator.ts"
import type { Listener } from "../src/listeners/Listener.ts"
import { ModelClient, ModelError, type ModelEvent, type ModelRequest } from "../src/ModelClient.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import { ConversationStore } from "../src/ConversationStore.ts"
import { MemoryStore } from "../src/store/MemoryStore.ts"
import {
  type ToolCall,
  type ToolContext,
  ToolRuntime,
  unsupportedCall,
} from "../src/ToolRuntime.ts"

export const settings: ConversationSettings = scriptedSettings(
  { model: "mock-model" },
  { id: "mock", name: "Mock" },
)

export const withRetries = (streamMaxRetries: number): ConversationSettings => ({
  ...settings,
  provider: { ...settings.provider, streamMaxRetries },
})

export const conversationId = ConversationId.make("00000000-0000-7000-8000-000000000001")

// -- inputs of a client

export const says = (text: string): Op => ({ type: "user_input", items: [{ type: "text", text }] })

export const userItem = (text: string): MessageItem => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }],
})

// -- responses of the model

export const assistantItem = (...texts: ReadonlyArray<string>): MessageItem => ({
  type: "message",
  role: "assistant",
  content: texts.map((text) => ({ type: "output_text", text })),
})

export const callItem = (name: string, call_id: string): FunctionCallItem => ({
  type: "function_call",
  name,
  arguments: "{}",
  call_id,
})

export const outputItem = (call_id: string, output: string): ResponseItem => ({
  type: "function_call_output",
  call_id,
  output,
})

export const delta = (text: string): ModelEvent => ({ _tag: "TextDelta", delta: text })
export const done = (item: ResponseItem): ModelEvent => ({ _tag: "ItemDone", item })
export const completed: ModelEvent = { _tag: "Completed" }
/** A response of one message: a delta per letter, the message and the end of the response. */
export const answer = (text: string): ReadonlyArray<ModelEvent> => [
  ...text.split("").map(delta),
  done(assistantItem(text)),
  completed,
]

export const usage = (input: number, output: number): TokenUsage => ({
  input_tokens: input,
  cached_input_tokens: 1,
  output_tokens: output,
  reasoning_output_tokens: 2,
  total_tokens: input + output,
})

export const modelError = (
  fields: { readonly retryable: boolean } & Partial<
    Pick<ModelError, "message" | "retryAfterMs" | "reason">
  >,
) => new ModelError({ reason: "Stream", message: "boom", ...fields })

export type Response =
  | ReadonlyArray<ModelEvent>
  | Stream.Stream<ModelEvent, ModelError>
  | ((request: ModelRequest) => Stream.Stream<ModelEvent, ModelError>)

const streamOf = (response: Response, request: ModelRequest) => {
  if (typeof response === "function") return response(request)
  return Stream.isStream(response) ? response : Stream.fromIterable(response)
}

export interface Script {
  readonly service: ModelClient["Service"]
  /** The requests that the model received, in order. */
  readonly requests: Array<ModelRequest>
}

/** Responds to the n-th request with the n-th response, and to all further requests with the last one. */
export const scripted = (...responses: ReadonlyArray<Response>): Script => {
  const requests: Array<ModelRequest> = []
  return {
    requests,
    service: {
      stream: (request) => {
        const response = responses[Math.min(requests.length, responses.length - 1)]
        requests.push(request)
        return response === undefined ? Stream.die("no response") : streamOf(response, request)
      },
    },
  }
}

/** Tools by name. A call of any other name gets the output for an unknown tool. */
export const tools = (
  byName: Readonly<
    Record<string, (call: ToolCall, context: ToolContext) => Effect.Effect<string>>
  > = {},
): ToolRuntime["Service"] =>
  ToolRuntime.simple({
    specs: () =>
      Object.keys(byName).map((name) => ({
        type: "function",
        name,
        description: name,
        parameters: { type: "object" },
      })),
    run: (call, context) => {
      const tool = call.type === "local_shell_call" ? undefined : byName[call.name]
      return tool === undefined ? Effect.succeed(unsupportedCall(call)) : tool(call, context)
    },
  })

export const managerLayer = (
  script: Script,
  options: Conversations.ConversationsOptions & {
    readonly tools?: ToolRuntime["Service"]
    readonly store?: Layer.Layer<ConversationStore>
    readonly resolver?: Layer.Layer<SettingsResolver>
  } = {},
) =>
  Conversations.layerWith(options).pipe(
    Layer.provide(IdGenerator.layer),
    Layer.provide(options.store ?? MemoryStore.layer),
    Layer.provide(
      options.resolver ??
        Layer.succeed(SettingsResolver, { resolve: () => Effect.succeed(settings) }),
    ),
    Layer.provide(Layer.succeed(ToolRuntime, options.tools ?? tools())),
    Layer.provide(Layer.succeed(ModelClient, script.service)),
  )

/** The exit of a service method, without the stack trace that `Effect.fn` adds to the cause of a failure. */
export const exitOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.match(effect, { onFailure: Exit.fail, onSuccess: Exit.succeed })

/** Ids of all conversations, oldest first. */
export const listed = (manager: ConversationManager["Service"]) =>
  Effect.map(Effect.orDie(manager.list({ limit: 1000 })), ({ items }) =>
    items.map(({ id }) => id).toReversed(),
  )

/** Ids of the loaded conversations, newest first. */
export const loadedIds = (manager: ConversationManager["Service"]) =>
  Effect.map(Effect.orDie(manager.list({ limit: 1000 })), ({ items }) =>
    items.flatMap(({ id, loaded }) => (loaded ? [id] : [])),
  )

// -- readers of listeners

/** Takes deliveries up to and including the first match; drops those that follow it in the same take. */
export const takeUntil = Effect.fnUntraced(function* (
  listener: Listener,
  fits: (delivery: Delivery) => boolean,
) {
  const seen: Array<Delivery> = []
  while (true) {
    for (const delivery of yield* listener.take) {
      seen.push(delivery)
      if (fits(delivery)) return seen
    }
  }
})

/** Takes until the conversation has ended. */
export const takeToEnd = Effect.fnUntraced(function* (listener: Listener) {
  const seen: Array<Delivery> = []
  const rest: Effect.Effect<void> = listener.take.pipe(
    Effect.matchEffect({
      onFailure: () => Effect.void,
      onSuccess: (deliveries) => {
        seen.push(...deliveries)
        return rest
      },
    }),
  )
  yield* rest
  return seen
})

export const eventsOf = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<Event> =>
  deliveries.flatMap((delivery) => (delivery._tag === "Event" ? [delivery.event] : []))

export const durableOf = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<Event> =>
  eventsOf(deliveries).filter(({ msg }) => !isEphemeral(msg))

export const typesOf = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<EventMsg["type"]> =>
  eventsOf(deliveries).map(({ msg }) => msg.type)

export const isType =
  (...types: ReadonlyArray<EventMsg["type"]>) =>
  (delivery: Delivery): boolean =>
    delivery._tag === "Event" && types.includes(delivery.event.msg.type)

export const isEnd = isType("task_complete", "turn_aborted")

/** The terminal events of the submission, and the types of its events after the first terminal one. */
export const endings = (events: ReadonlyArray<Event>, id: string) => {
  const own = events.filter((event) => event.id === id)
  const first = own.findIndex(({ msg }) => isTerminal(msg))
  return {
    terminal: own.flatMap(({ msg }) => (isTerminal(msg) ? [msg.type] : [])),
    after: first === -1 ? [] : own.slice(first + 1).map(({ msg }) => msg.type),
  }
}

// -- one conversation

/** Opens a conversation in a new scope, with a listener from its first event on and the requests to the model. */
export const open = Effect.fnUntraced(function* (
  responses: ReadonlyArray<Response>,
  options: {
    readonly tools?: ToolRuntime["Service"]
    readonly settings?: ConversationSettings
  } = {},
) {
  const script = scripted(...responses)
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const conversation = yield* Conversation.make(conversationId, options.settings ?? settings).pipe(
    Scope.provide(scope),
    Effect.provideService(ModelClient, script.service),
    Effect.provideService(ToolRuntime, options.tools ?? tools()),
  )
  const listener = yield* conversation.attach({ from: 0 })
  // TestClock would interrupt the first sleep of a test if a finalizer started it, so this one comes first.
  yield* TestClock.adjust(0)
  return {
    conversation,
    listener,
    requests: script.requests,
    close: Scope.close(scope, Exit.void),
  }
})

/** Yields 20 times, so that every other runnable fiber runs until it waits. */
export const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, {
  discard: true,
})

/** Folds a log of only these events into what a process loads when it resumes the conversation. */
export const existing = (events: ReadonlyArray<Event>) => {
  const fold = new LogFold()
  fold.add(events.map((event) => eventRecord(0, event)))
  return fold.finish()
}
