/** A program of somebody who installed the packages: one conversation with one turn, on the offline model. */
import * as Resolve from "@colloquy/config/Resolve"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Models from "@colloquy/models/Models"
import { offlineProvider } from "@colloquy/models/Providers"
import { Console, Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"

const builtinProviders = [offlineProvider]
const settings = { tree: {}, builtinProviders, defaultProvider: "offline", cwd: "/" }

/** Everything that a conversation needs, in memory. */
export const layer = Conversations.layer.pipe(
  Layer.provide([Models.layer(), ToolRuntime.layerNone, IdGenerator.layer, MemoryStore.layer]),
  Layer.provideMerge(Resolve.layer(settings)),
  Layer.provide(FetchHttpClient.layer),
)

/** Resolves with the types of all events of a conversation with this one message. */
export const ask = Effect.fn("ask")(function* (text: string) {
  const resolved = yield* (yield* SettingsResolver).resolve({ model: "offline" })
  const conversation = yield* (yield* ConversationManager).create(resolved)
  yield* conversation.submit({ type: "user_input", items: [{ type: "text", text }] })
  return yield* conversation.events({ from: 0 }).pipe(
    Stream.map(({ msg }) => msg.type),
    Stream.takeUntil((type) => type === "task_complete"),
    Stream.runCollect,
  )
})

/** What the program does. */
export const main = ask("hello").pipe(
  Effect.flatMap((types) => Console.log(types.join(" "))),
  Effect.provide(layer),
)
