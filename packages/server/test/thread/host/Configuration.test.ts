import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  type ConfigEdits,
  ConfigFailed,
  ConfigPort,
  type HostConfig,
} from "../../../src/thread/host/ports/ConfigPort.ts"
import { errorOf, resultOf } from "../../support/AppHarness.ts"
import { withThreads } from "../../support/Threading.ts"

const origin = { name: { type: "user", file: "/state/config.toml", profile: null }, version: "1" }
const view = {
  config: { model: "m" },
  origins: { model: origin },
  layers: [{ ...origin, config: { model: "m" } }],
}

const file = () => {
  const written: Array<ConfigEdits> = []
  const config: HostConfig = {
    read: Effect.succeed(view),
    write: (edits) =>
      edits.expectedVersion === "0"
        ? Effect.fail(new ConfigFailed({ reason: "conflict", message: "was modified" }))
        : Effect.sync(() => {
            written.push(edits)
            return { version: "2", filePath: "/state/config.toml" }
          }),
  }
  return { config, written }
}

const edit = { keyPath: "model", value: "n", mergeStrategy: "replace" }
const done = {
  status: "ok",
  version: "2",
  filePath: "/state/config.toml",
  overriddenMetadata: null,
}

describe("config/read", () => {
  it.effect("has the layers only where they are asked for", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { layers, ...rest } = view
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "config/read", {})), rest)
        const all = yield* app.ask(2, "config/read", { includeLayers: true })
        assert.deepStrictEqual(resultOf(all), { ...rest, layers })
      }),
    ).pipe(Effect.provideService(ConfigPort, file().config)),
  )
})

describe("config/value/write and config/batchWrite", () => {
  it.effect("write edits, and report a conflict", () => {
    const { config, written } = file()
    return withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "config/value/write", edit)), done)
        const batch = { edits: [edit, { ...edit, value: null }], expectedVersion: "2" }
        assert.deepStrictEqual(resultOf(yield* app.ask(2, "config/batchWrite", batch)), done)
        assert.deepStrictEqual(written, [
          { edits: [edit] },
          batch,
        ] as ReadonlyArray<object> as typeof written)
        const stale = yield* app.ask(3, "config/value/write", { ...edit, expectedVersion: "0" })
        assert.deepStrictEqual(stale.error, {
          code: -32600,
          message: "was modified",
          data: { config_write_error_code: "configVersionConflict" },
        })
      }),
    ).pipe(Effect.provideService(ConfigPort, config))
  })

  it.effect("fail without a file", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(errorOf(yield* app.ask(1, "config/value/write", edit)), {
          code: -32603,
          message: "there is no configuration file",
        })
      }),
    ),
  )
})

describe("configRequirements/read", () => {
  it.effect("requires nothing", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "configRequirements/read")), {
          supportsIndependentSpeedModes: null,
          requirements: null,
        })
      }),
    ),
  )
})
