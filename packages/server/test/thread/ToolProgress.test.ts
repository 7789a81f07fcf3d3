/** The progress that a tool server reports of a call. */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { oneCall } from "../support/Asking.ts"
import { at, started, told, turn, withThreads } from "../support/Threading.ts"

const invocation = { server: "lab", tool: "count", arguments: {} }

/** A call of a tool server that reports its progress, also once it has ended. */
const tools = ToolRuntime.simple({
  specs: () => [],
  run: (call, { emit }) => {
    const call_id = call.call_id ?? ""
    const progress = { type: "mcp_tool_call_progress", call_id } as const
    return Effect.gen(function* () {
      yield* emit({ type: "mcp_tool_call_begin", call_id, invocation })
      yield* emit({ ...progress, progress: 1, message: "counting" })
      yield* emit({ ...progress, progress: 2, total: 3 })
      yield* emit({
        type: "mcp_tool_call_end",
        call_id,
        invocation,
        duration: { secs: 0, nanos: 0 },
        result: { Ok: { content: [] } },
      })
      yield* emit({ ...progress, progress: 3, message: "late" })
      return "counted"
    })
  },
})

const method = "item/mcpToolCall/progress"

describe(method, () => {
  it.effect(
    "says what the server says of its call, between the start and the end of the item",
    () =>
      withThreads({ script: oneCall, tools }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const turnId = yield* turn(app, threadId)
          yield* app.quiet
          const itemOf = ({ params }: { readonly params?: unknown }) => at(params, "item")
          const about = app.messages.filter(
            (message) => message.method === method || at(itemOf(message), "type") === "mcpToolCall",
          )
          assert.deepStrictEqual(
            about.map((message) => message.method),
            ["item/started", method, method, "item/completed"],
          )
          const itemId = at(itemOf(about[0] ?? {}), "id")
          assert.deepStrictEqual<unknown>(told(app, method), [
            { threadId, turnId, itemId, message: "counting" },
            { threadId, turnId, itemId, message: "2/3" },
          ])
          const { result } = yield* app.ask("read", "thread/read", { threadId, includeTurns: true })
          const items = at(result, "thread", "turns", 0, "items") as ReadonlyArray<unknown>
          assert.deepStrictEqual(
            items.filter((item) => at(item, "type") === "mcpToolCall"),
            [itemOf(about[3] ?? {})],
          )
        }),
      ),
  )

  it.effect("is not sent to a client that has opted out", () =>
    withThreads(
      {
        script: oneCall,
        tools,
        capabilities: { experimentalApi: true, optOutNotificationMethods: [method] },
      },
      (app) =>
        Effect.gen(function* () {
          yield* turn(app, yield* started(app))
          yield* app.quiet
          assert.deepStrictEqual(told(app, method), [])
          assert.lengthOf(told(app, "turn/completed"), 1)
        }),
    ),
  )
})
