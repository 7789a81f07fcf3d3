/** A defect of the server in each stage of a message, in both dialects: it affects only that message. */
import type * as MethodModule from "@colloquy/protocol/Method"
import type * as NearestModule from "@colloquy/protocol/Nearest"
import type * as GetUserAgentModule from "../src/app/methods/GetUserAgent.ts"
import type * as PingModule from "../src/mcp/methods/Ping.ts"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { afterEach, vi } from "vitest"
import { withApp } from "./support/AppHarness.ts"
import { type Harness, listed, withServer } from "./support/Harness.ts"

const faulty = vi.hoisted(() => ({ stage: "" }))

const failAt = (stage: string): void => {
  if (faulty.stage === stage) throw new TypeError("a defect of the server")
}

vi.mock("@colloquy/protocol/Method", async (load) => {
  const original = await load<typeof MethodModule>()
  const codecOf: typeof original.codecOf = (method) => {
    const codec = original.codecOf(method)
    return {
      ...codec,
      decodeParams: (value) => {
        failAt("decode params")
        return codec.decodeParams(value)
      },
      encodeResult: (value) => {
        failAt("encode result")
        return codec.encodeResult(value)
      },
    }
  }
  return { ...original, codecOf }
})

vi.mock("@colloquy/protocol/Nearest", async (load) => {
  const original = await load<typeof NearestModule>()
  const nearest: typeof original.nearest = (...args) => {
    failAt("route")
    return original.nearest(...args)
  }
  return { ...original, nearest }
})

vi.mock("../src/mcp/methods/Ping.ts", async (load) => {
  const original = await load<typeof PingModule>()
  const ping: typeof original.ping = () => {
    failAt("handler")
    return original.ping()
  }
  return { ping }
})

vi.mock("../src/app/methods/GetUserAgent.ts", async (load) => {
  const original = await load<typeof GetUserAgentModule>()
  const getUserAgent: typeof original.getUserAgent = (...args) => {
    failAt("handler")
    return original.getUserAgent(...args)
  }
  return { getUserAgent }
})

vi.mock("../src/mcp/methods/NotificationsInitialized.ts", () => ({
  notificationsInitialized: () => Effect.sync(() => failAt("notification handler")),
}))

vi.mock("../src/app/methods/Initialized.ts", () => ({
  initialized: Effect.sync(() => failAt("notification handler")),
}))

afterEach(() => {
  faulty.stage = ""
})

interface Dialect {
  readonly name: string
  readonly run: <A, E>(
    body: (server: Harness) => Effect.Effect<A, E, Scope.Scope>,
  ) => Effect.Effect<A, E>
  /** A request without requirements. */
  readonly method: string
  /** A request whose route depends on its content. */
  readonly looked: string
  readonly notification: string
}

const dialects: ReadonlyArray<Dialect> = [
  {
    name: "mcp",
    run: (body) =>
      withServer(
        {
          beside: Effect.succeed(() =>
            Effect.succeed(() => {
              failAt("route")
              return undefined
            }),
          ),
        },
        body,
      ),
    method: "ping",
    looked: "ping",
    notification: "notifications/initialized",
  },
  {
    name: "app-server",
    run: (body) => withApp({}, body),
    method: "getUserAgent",
    looked: "getUserAgents",
    notification: "initialized",
  },
]

const internal = { code: -32603, message: "Internal error" }

for (const { looked, method, name, notification, run } of dialects) {
  describe(`${name}: a defect of the server`, () => {
    const alive = (server: Harness) =>
      Effect.gen(function* () {
        faulty.stage = ""
        const { result } = yield* server.ask("alive", method)
        assert.isDefined(result)
        assert.isUndefined(server.server.pollUnsafe())
      })

    it.effect.each(["route", "decode params", "handler", "encode result"])(
      "L1 L13 in the stage `%s` costs an internal error for that request",
      (stage) =>
        run((server) =>
          Effect.gen(function* () {
            faulty.stage = stage
            const { error } = yield* server.ask("x", stage === "route" ? looked : method)
            assert.deepStrictEqual<unknown>(error, internal)
            yield* alive(server)
          }),
        ),
    )

    it.effect.each(["decode params", "notification handler"])(
      "L13 in the stage `%s` of a notification costs no response",
      (stage) =>
        run((server) =>
          Effect.gen(function* () {
            yield* server.quiet
            const before = server.messages.length
            faulty.stage = stage
            yield* server.send({ jsonrpc: "2.0", method: notification })
            yield* server.quiet
            assert.strictEqual(server.messages.length, before)
            yield* alive(server)
          }),
        ),
    )

    it.effect("L13 in reading a frame costs an error without an id", () =>
      run((server) =>
        Effect.gen(function* () {
          yield* server.connection.inject({
            _tag: "Text",
            get text(): string {
              throw new TypeError("a defect of the server")
            },
          })
          yield* server.quiet
          const { error, id } = server.messages.at(-1) ?? {}
          assert.deepStrictEqual<unknown>([id, error], [null, internal])
          yield* alive(server)
        }),
      ),
    )

    it.effect.each(["9007199254740993", "-1e308", "1e400"])(
      "L13 a response to nothing with the error code %s, alone and in a batch, is ignored",
      (code) =>
        run((server) =>
          Effect.gen(function* () {
            const one = `{"id":99,"error":{"code":${code}}}`
            yield* server.sendTexts(one, `[${one}]`)
            yield* alive(server)
          }),
        ),
    )

    it.effect.each(["9.1e15", "1e300", "1.5"])(
      "L13 a request with the id %s is refused under it, and leaves nothing behind",
      (id) =>
        run((server) =>
          Effect.gen(function* () {
            const params =
              name === "mcp"
                ? { method: "tools/call", params: { name: "codex", arguments: { prompt: "x" } } }
                : { method: "newConversation", params: {} }
            yield* server.sendTexts(`${JSON.stringify(params).slice(0, -1)},"id":${id}}`)
            yield* server.quiet
            const text = server.texts.at(-1) ?? ""
            const { error, ...rest } = JSON.parse(text) as {
              readonly id: number
              readonly error: { readonly code: number }
            }
            assert.deepStrictEqual([rest.id, error.code], [Number(id), -32600])
            assert.deepStrictEqual(yield* server.provider.requests, [])
            assert.deepStrictEqual(yield* listed(server.manager), [])
            yield* alive(server)
          }),
        ),
    )
  })
}
