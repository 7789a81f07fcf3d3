/** A conversation whose process is killed and started again, over stores that keep what was recorded. */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../src/ConversationManager.ts"
import { type ConversationSettings, SettingsResolver } from "../src/ConversationSettings.ts"
import type { ConversationsOptions } from "../src/manager/Conversations.ts"
import type { ReplayClass } from "../src/LogRecord.ts"
import { withStored } from "../src/store/Settings.ts"
import { type ToolCall, type ToolContext, ToolRuntime } from "../src/ToolRuntime.ts"
import { observed } from "./stores.ts"
import {
  callItem,
  completed,
  done,
  durableOf,
  managerLayer,
  says,
  scripted,
  type Script,
  settings,
  settle,
  takeUntil,
  tools,
} from "./support.ts"

type Observed = ReturnType<typeof observed>

/** Returns the stored settings with the current provider, or the current settings where none are stored. */
const resolver = Layer.succeed(SettingsResolver, {
  resolve: ({ stored }) =>
    Effect.succeed(stored === undefined ? settings : withStored(settings, stored)),
})

/** A manager over the store, as one process has it. Its scope is never closed, as when a process is killed. */
export const processOver = Effect.fnUntraced(function* (
  store: Observed,
  script: Script,
  runtime: ToolRuntime["Service"] = tools(),
  resolving = resolver,
  options: ConversationsOptions = {},
) {
  yield* TestClock.adjust(0)
  const services = yield* Layer.buildWithScope(
    Layer.fresh(
      managerLayer(script, { tools: runtime, store: store.layer, resolver: resolving, ...options }),
    ),
    yield* Scope.make(),
  )
  return Context.get(services, ConversationManager)
})

/** The store as the next process finds it after the kill: it holds the first `count` records. */
export const killed = Effect.fnUntraced(function* (
  store: Observed,
  id: ConversationId,
  count = Number.MAX_SAFE_INTEGER,
) {
  const next = observed()
  const { meta } = yield* store.inner.metadata({ id })
  yield* Effect.scoped(next.inner.create(meta, store.records(id).slice(0, count)))
  return next
})

type Conversation = Effect.Success<ReturnType<ConversationManager["Service"]["get"]>>

export const logOf = (conversation: Conversation): Effect.Effect<ReadonlyArray<Event>, unknown> =>
  Effect.scoped(
    Effect.flatMap(conversation.attach({ from: 0 }), (listener) =>
      Effect.map(
        takeUntil(listener, ({ _tag }) => _tag === "Synced"),
        durableOf,
      ),
    ),
  )

export const hanging = () => scripted(Stream.never)
export const calls = (name: string, ...ids: ReadonlyArray<string>) =>
  [...ids.map((id) => done(callItem(name, id))), completed] as const

export const replaying = (
  replay: ReplayClass,
  run: (call: ToolCall, context: ToolContext) => Effect.Effect<string>,
): ToolRuntime["Service"] => ({
  open: (context) =>
    Effect.succeed({
      specs: Effect.succeed([]),
      isReadOnly: () => false,
      replayOf: () => replay,
      run: (call) => Effect.map(run(call, context), (output) => ({ output })),
    }),
  listMcpTools: () => Effect.succeed({}),
})

export const continued: ConversationSettings = { ...settings, onRestart: "continue" }

/** Kills a process in the middle of a call of that replay class; returns the conversation's id and the store. */
export const cutOff = Effect.fnUntraced(function* (
  replay: ReplayClass,
  more: Partial<ConversationSettings> = {},
) {
  const store = observed()
  const hang = replaying(replay, () => Effect.never)
  const first = yield* processOver(store, scripted(calls("work", "c")), hang)
  const made = yield* first.create({ ...continued, ...more })
  yield* made.submit(says("hi"), { id: "t" })
  yield* settle
  return { id: made.id, left: yield* killed(store, made.id), hang }
})
