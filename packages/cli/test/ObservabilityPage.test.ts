/** The program of the page on observability: its layers observe a turn, and show it. */
import * as Resolve from "@colloquy/config/Resolve"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Models from "@colloquy/models/Models"
import { offlineProvider } from "@colloquy/models/Providers"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { FetchHttpClient } from "effect/http"
import { ask } from "../../testing/test/support/EmbeddingExample.ts"
import { metrics, observed } from "./support/ObservedExample.ts"

const settings = {
  tree: {},
  builtinProviders: [offlineProvider],
  defaultProvider: "offline",
  cwd: "/tmp",
}

const layer = observed.pipe(
  Layer.provide([Models.layer(), ToolRuntime.layerNone, IdGenerator.layer, MemoryStore.layer]),
  Layer.provideMerge(Resolve.layer(settings)),
  Layer.provide(FetchHttpClient.layer),
)

it.effect("the program of the page observes a turn", () =>
  Effect.gen(function* () {
    yield* ask("hello")
    const ids = (yield* Metric.snapshot).map(({ id }) => id)
    assert.isTrue(
      ids.some((id) => id.startsWith("gen_ai.")),
      ids.join(" "),
    )
    assert.isTrue(Layer.isLayer(metrics))
  }).pipe(Effect.provide(layer)),
)
