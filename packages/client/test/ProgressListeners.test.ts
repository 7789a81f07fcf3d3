import { notificationText, parse, successText } from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as McpClient from "../src/McpClient.ts"
import type { CallProgress } from "../src/internal/ProgressListeners.ts"
import * as FakeServer from "./FakeServer.ts"

const clientInfo = { name: "test", version: "1.2.3" }
const server = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  serverInfo: { name: "fake", version: "0" },
}
const done = { content: [{ type: "text", text: "done" }] }

const connected = (options: Omit<McpClient.ConnectOptions, "clientInfo"> = {}) =>
  Effect.gen(function* () {
    const fake = yield* FakeServer.make()
    const connecting = yield* Effect.forkChild(
      McpClient.connect(fake.connection, { clientInfo, ...options }),
      { startImmediately: true },
    )
    const hello = yield* fake.next
    yield* fake.send(successText(0, server))
    const client = yield* Fiber.join(connecting)
    yield* fake.next
    return { ...fake, client, hello }
  })

const params = (message: ReturnType<typeof parse>): unknown =>
  message._tag === "Request" ? message.params : message._tag

const progressText = (progressToken: unknown, progress: number, more: object = {}) =>
  notificationText("notifications/progress", { progressToken, progress, ...more })

describe("ProgressListeners", () => {
  it.effect("each call gets its own progress, in order, and none after its end", () =>
    Effect.gen(function* () {
      const { client, next, send } = yield* connected()
      const received: Array<readonly [call: string, progress: CallProgress]> = []
      const call = (name: string) =>
        Effect.forkChild(
          client.codex(
            { prompt: name },
            { onProgress: (progress) => Effect.sync(() => received.push([name, progress])) },
          ),
          { startImmediately: true },
        )
      const [a, b] = [yield* call("a"), yield* call("b")]
      assert.deepStrictEqual(
        [params(yield* next), params(yield* next)],
        ["a", "b"].map((prompt, progressToken) => ({
          name: "codex",
          arguments: { prompt },
          _meta: { progressToken },
        })),
      )
      yield* send(
        progressText(1, 1, { message: "one" }),
        progressText(0, 1),
        progressText(1, 2, { total: 3 }),
        progressText("1", 9),
        progressText(7, 9),
        notificationText("notifications/progress", { progressToken: 1 }),
        successText(2, done),
        progressText(1, 3),
      )
      assert.strictEqual((yield* Fiber.join(b)).text, "done")
      yield* send(progressText(0, 2), successText(1, done))
      yield* Fiber.join(a)
      assert.deepStrictEqual(received, [
        ["b", { progress: 1, message: "one" }],
        ["a", { progress: 1 }],
        ["b", { progress: 2, total: 3 }],
        ["a", { progress: 2 }],
      ])
    }),
  )

  it.effect("a call without a listener sends no token", () =>
    Effect.gen(function* () {
      const { client, next } = yield* connected()
      yield* Effect.forkChild(client.codexReply({ prompt: "x", threadId: "t" }), {
        startImmediately: true,
      })
      assert.deepStrictEqual(params(yield* next), {
        name: "codex-reply",
        arguments: { prompt: "x", threadId: "t" },
      })
    }),
  )

  it.effect("a client that wants no events says so in the handshake", () =>
    Effect.gen(function* () {
      const { hello } = yield* connected({ events: false })
      assert.deepStrictEqual(params(hello), {
        protocolVersion: "2025-11-25",
        capabilities: { experimental: { "codex/event": { enabled: false } } },
        clientInfo,
      })
    }),
  )
})
