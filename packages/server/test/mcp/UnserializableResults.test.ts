import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tool } from "../../src/features/Tool.ts"
import { saying } from "../support/Stateless.ts"
import { initialized, stateless, withFeatures } from "../support/Featuring.ts"

const circular: { self?: unknown } = {}
circular.self = circular

/** Values that JSON cannot express. */
const unspeakable: ReadonlyArray<readonly [what: string, value: unknown]> = [
  ["a circle", circular],
  ["a BigInt", 1n],
  [
    "what throws when it is read",
    {
      toJSON: () => {
        throw new Error("secret")
      },
    },
  ],
]

const content = [{ type: "text" as const, text: "t" }]

describe("L1 a call whose result cannot be serialized as JSON", () => {
  it.effect.each(unspeakable)("is answered with an internal error: %s", ([, value]) =>
    withFeatures(
      {
        tools: [
          tool({
            name: "result",
            run: () => Effect.succeed({ content, structuredContent: { value } }),
          }),
          tool({ name: "meta", run: () => Effect.succeed({ content, _meta: { value } }) }),
          tool({
            name: "error",
            run: () => Effect.fail(new JsonRpcError({ code: 7, message: "no", data: { value } })),
          }),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          yield* initialized(server)
          for (const name of ["result", "meta", "error"]) {
            for (const params of [{ name }, stateless({ name })]) {
              const id = `${name} ${Object.keys(params).length}`
              yield* server.send({ jsonrpc: "2.0", id, method: "tools/call", params })
              yield* server.quiet
              assert.deepStrictEqual(
                server.messages.filter((one) => one.id === id).map(({ error }) => error),
                [{ code: -32603, message: "Internal error" }],
                id,
              )
            }
          }
        }),
    ),
  )

  it.effect.each(unspeakable)("as a task it fails: %s", ([, value]) =>
    withFeatures(
      {
        tools: [
          tool({
            name: "long",
            taskSupport: "required",
            run: () => Effect.succeed({ content, structuredContent: { value } }),
          }),
        ],
      },
      (server) =>
        Effect.gen(function* () {
          const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } }
          const made = yield* server.ask(1, "tools/call", saying({ name: "long" }, tasks))
          yield* server.quiet
          const taskId = made.result?.["taskId"]
          const { result } = yield* server.ask(2, "tasks/get", saying({ taskId }, tasks))
          assert.deepStrictEqual(
            [result?.["status"], result?.["error"]],
            ["failed", { code: -32603, message: "Internal error" }],
          )
        }),
    ),
  )
})
