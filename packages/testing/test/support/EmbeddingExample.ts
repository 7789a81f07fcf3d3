import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as Resolve from "@colloquy/config/Resolve"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Models from "@colloquy/models/Models"
import { offlineProvider } from "@colloquy/models/Providers"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"

const builtinProviders = [offlineProvider]
export const Agents = Conversations.layer.pipe(
  Layer.provide([Models.layer(), ToolRuntime.layerNone, IdGenerator.layer]),
  Layer.provide(MemoryStore.layer),
  Layer.provideMerge(
    Resolve.layer({ tree: {}, builtinProviders, defaultProvider: "offline", cwd: "/tmp" }),
  ),
  Layer.provide(FetchHttpClient.layer),
)

export const ask = Effect.fn("ask")(function* (text: string) {
  const settings = yield* (yield* SettingsResolver).resolve({ model: "offline" })
  const conversation = yield* (yield* ConversationManager).create(settings)
  yield* conversation.submit({ type: "user_input", items: [{ type: "text", text }] })
  return yield* conversation.events({ from: 0 }).pipe(
    Stream.map(({ msg }) => msg),
    Stream.takeUntil((msg) => msg.type === "task_complete"),
    Stream.runCollect,
  )
})
