/** The tools of a thread's clients: their definitions, and the calls of the model that a client runs. */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { errorOf, resultOf } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { asked, at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const inputSchema = {
  type: "object",
  properties: { a: { type: "number" } },
  additionalProperties: false,
}
const tool = { type: "function", name: "look", description: "Looks.", inputSchema }
const method = "item/tool/call"

const calling = (args: unknown = { a: 1 }, name = "look") => [
  Script.reply(Script.toolCall(name, args, "c1")),
  Script.reply(Script.text("done")),
  Script.reply(Script.text("later")),
]

/** A thread with the tool, whose turn has called it. */
const called = Effect.fnUntraced(function* (app: Harness, dynamicTools: unknown = [tool]) {
  const threadId = yield* started(app, { dynamicTools })
  const turnId = yield* turn(app, threadId)
  yield* app.quiet
  return { threadId, turnId }
})

const items = (app: Harness) =>
  told(app, "item/completed").flatMap(({ item }) =>
    at(item, "type") === "dynamicToolCall" ? [item] : [],
  )

const status = (app: Harness) => at(told(app, "turn/completed"), 0, "turn", "status")

type List = ReadonlyArray<unknown>

/** A member of the body of the request to the model with this number. */
const sentToModel = (app: Harness, index: number, member: string) =>
  Effect.map(app.provider.requests, (requests) => at(requests[index], "body", member) as List)

/** What the model has read of the call. */
const read = (app: Harness) =>
  Effect.map(sentToModel(app, 1, "input"), (input) =>
    at(
      input.find((one) => at(one, "type") === "function_call_output"),
      "output",
    ),
  )

const text = (words: string) => [{ type: "inputText", text: words }]

/** The call has failed with these words, the model has read them, and the turn has gone on. */
const assertFailed = (app: Harness, words: string) =>
  Effect.map(read(app), (output) => {
    const [item] = items(app)
    assert.deepInclude(item, { status: "failed", contentItems: text(words), success: false })
    assert.strictEqual(output, words)
    assert.strictEqual(status(app), "completed")
  })

describe("item/tool/call", () => {
  it.effect("a client runs the call, and the item and the model get what it returns", () =>
    withThreads({ script: calling() }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnId } = yield* called(app)
        const offered = yield* sentToModel(app, 0, "tools")
        assert.deepInclude(offered.at(-1), { name: "look", description: "Looks." })
        assert.deepStrictEqual(at(offered.at(-1), "parameters"), inputSchema)
        const request = asked(app, method)
        const [begun] = told(app, "item/started").slice(-1)
        assert.deepStrictEqual(request.params, {
          threadId,
          turnId,
          callId: at(begun, "item", "id"),
          namespace: null,
          tool: "look",
          arguments: { a: 1 },
        })
        assert.deepInclude(at(begun, "item"), {
          type: "dynamicToolCall",
          status: "inProgress",
          contentItems: null,
          success: null,
        })
        const before = app.messages.length
        yield* TestClock.adjust("7 millis")
        yield* app.send({
          id: request.id,
          result: { contentItems: text("tool says hi"), success: true },
        })
        yield* app.quiet
        const [item] = items(app)
        assert.deepInclude(item, {
          id: at(begun, "item", "id"),
          namespace: null,
          tool: "look",
          arguments: { a: 1 },
          status: "completed",
          contentItems: text("tool says hi"),
          success: true,
          durationMs: 7,
        })
        // Nothing but the item says that the call was answered.
        assert.deepStrictEqual(lines(app, before).slice(0, 2), [
          "item/completed dynamicToolCall",
          "thread/tokenUsage/updated",
        ])
        assert.strictEqual(yield* read(app), "tool says hi")
        assert.strictEqual(status(app), "completed")
        const history = resultOf(
          yield* app.ask("read", "thread/read", { threadId, includeTurns: true }),
        )
        const stored = (at(history, "thread", "turns", 0, "items") as ReadonlyArray<unknown>)[1]
        assert.deepStrictEqual(stored, item)
      }),
    ),
  )

  it.effect("the model gets the images of a result, and a result without success fails", () =>
    withThreads({ script: calling() }, (app) =>
      Effect.gen(function* () {
        yield* called(app)
        const imageUrl = "data:image/png;base64,AAAA"
        const contentItems = [...text("one"), { type: "inputImage", imageUrl }, ...text("two")]
        yield* app.send({ id: asked(app, method).id, result: { contentItems, success: false } })
        yield* app.quiet
        assert.deepInclude(items(app)[0], { status: "failed", contentItems, success: false })
        assert.strictEqual(yield* read(app), "one\ntwo")
        const input = JSON.stringify(yield* sentToModel(app, 1, "input"))
        assert.include(input, imageUrl)
      }),
    ),
  )

  it.effect("an error of the client fails the call", () =>
    withThreads({ script: calling() }, (app) =>
      Effect.gen(function* () {
        yield* called(app)
        yield* app.send({ id: asked(app, method).id, error: { code: -32000, message: "no" } })
        yield* app.quiet
        yield* assertFailed(app, "dynamic tool request failed")
      }),
    ),
  )

  for (const [what, result] of [
    ["another shape", { nonsense: 1 }],
    [
      "an image that is elsewhere",
      { success: true, contentItems: [{ type: "inputImage", imageUrl: "https://example.org/a" }] },
    ],
    [
      "a data URL of no image",
      { success: true, contentItems: [{ type: "inputImage", imageUrl: "data:nonsense" }] },
    ],
  ] as const) {
    it.effect(`a result with ${what} fails the call`, () =>
      withThreads({ script: calling() }, (app) =>
        Effect.gen(function* () {
          yield* called(app)
          yield* app.send({ id: asked(app, method).id, result })
          yield* app.quiet
          yield* assertFailed(app, "dynamic tool response was invalid")
        }),
      ),
    )
  }

  it.effect("a client that does not answer in time fails the call", () =>
    withThreads({ script: calling() }, (app) =>
      Effect.gen(function* () {
        yield* called(app)
        yield* TestClock.adjust("10 minutes")
        yield* app.quiet
        yield* assertFailed(app, "dynamic tool request failed: the client did not answer in time")
      }),
    ),
  )

  it.effect(
    "a client that unsubscribes fails the call, and with no subscriber it fails at once",
    () =>
      withThreads({ script: [...calling().slice(0, 2), ...calling()] }, (app) =>
        Effect.gen(function* () {
          const { threadId } = yield* called(app)
          const other = yield* app.another
          yield* other.ask("hello", "initialize", { clientInfo: { name: "b", version: "1" } })
          yield* other.ask("resume", "thread/resume", { threadId })
          yield* other.quiet
          // It has not declared that it knows such calls.
          assert.isFalse(other.messages.some((message) => message.method === method))
          yield* app.ask("leave", "thread/unsubscribe", { threadId })
          yield* other.quiet
          const failure = "dynamic tool request failed: no connected client can run the tool"
          assert.deepInclude(items(other)[0], { status: "failed", contentItems: text(failure) })
          yield* turn(other, threadId, "again", {}, "again")
          yield* other.quiet
          assert.deepInclude(items(other)[1], { status: "failed", contentItems: text(failure) })
          assert.strictEqual(told(other, "turn/completed").length, 2)
        }),
      ),
  )

  it.effect("a client that disconnects fails the call", () =>
    withThreads({ script: calling() }, (app) =>
      Effect.gen(function* () {
        const watching = yield* app.another
        yield* watching.ask("hello", "initialize", { clientInfo: { name: "b", version: "1" } })
        const { threadId } = yield* called(app)
        yield* watching.ask("resume", "thread/resume", { threadId })
        yield* app.connection.drop
        yield* watching.quiet
        const failure = "dynamic tool request failed: no connected client can run the tool"
        assert.deepInclude(items(watching)[0], { status: "failed", contentItems: text(failure) })
        assert.strictEqual(yield* read(watching), failure)
        assert.strictEqual(status(watching), "completed")
      }),
    ),
  )

  it.effect("of several subscribers the first answer counts, and the others' are ignored", () =>
    withThreads({ script: calling() }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* called(app)
        const other = yield* app.another
        yield* other.ask("hello", "initialize", {
          clientInfo: { name: "b", version: "1" },
          capabilities: { experimentalApi: true },
        })
        yield* other.ask("resume", "thread/resume", { threadId })
        yield* other.quiet
        const mine = asked(app, method)
        yield* other.send({
          id: asked(other, method).id,
          result: { contentItems: text("theirs"), success: true },
        })
        yield* other.quiet
        yield* app.send({ id: mine.id, result: { contentItems: text("mine"), success: true } })
        yield* app.quiet
        assert.deepInclude(items(app)[0], { status: "completed", contentItems: text("theirs") })
        assert.strictEqual(items(app).length, 1)
      }),
    ),
  )

  it.effect("L14 an interrupt withdraws the request, and the item completes", () =>
    withThreads({ script: calling() }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnId } = yield* called(app)
        yield* app.ask("stop", "turn/interrupt", { threadId, turnId })
        yield* app.quiet
        yield* app.send({
          id: asked(app, method).id,
          result: { contentItems: text("late"), success: true },
        })
        yield* app.quiet
        assert.deepInclude(items(app)[0], { status: "failed" })
        assert.strictEqual(items(app).length, 1)
        assert.strictEqual(status(app), "interrupted")
      }),
    ),
  )

  it.effect("arguments that do not match the schema are refused without a request", () =>
    withThreads({ script: calling({ a: "one", b: 2 }) }, (app) =>
      Effect.gen(function* () {
        yield* called(app)
        assert.isFalse(app.messages.some((message) => message.method === method))
        const [item] = items(app)
        const words = String(at(item, "contentItems", 0, "text"))
        assert.include(words, "failed to parse function arguments")
        assert.include(words, "field `a`")
        yield* assertFailed(app, words)
      }),
    ),
  )

  it.effect("tools of two namespaces may have one name", () =>
    withThreads({ script: calling({}, "two__look") }, (app) =>
      Effect.gen(function* () {
        yield* called(app, [
          { ...tool, namespace: "one" },
          { ...tool, namespace: "two" },
        ])
        assert.deepInclude(asked(app, method).params, { namespace: "two", tool: "look" })
        yield* app.send({
          id: asked(app, method).id,
          result: { contentItems: text("two"), success: true },
        })
        yield* app.quiet
        assert.deepInclude(items(app)[0], { namespace: "two", tool: "look", success: true })
      }),
    ),
  )

  it.effect("a fork and a thread that is loaded again have the tools", () =>
    withThreads({ script: [...calling().slice(1), Script.reply(Script.text("last"))] }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* called(app)
        const forked = resultOf(yield* app.ask("fork", "thread/fork", { threadId }))
        yield* turn(app, String(at(forked, "thread", "id")), "hello", {}, "forked")
        yield* app.quiet
        const offered = yield* sentToModel(app, 1, "tools")
        assert.strictEqual(at(offered.at(-1), "name"), "look")
        yield* app.ask("leave", "thread/unsubscribe", { threadId })
        yield* TestClock.adjust("1 minute")
        yield* app.quiet
        yield* app.ask("resume", "thread/resume", { threadId })
        yield* turn(app, threadId, "hello", {}, "again")
        yield* app.quiet
        const again = yield* sentToModel(app, 2, "tools")
        assert.strictEqual(at(again.at(-1), "name"), "look")
      }),
    ),
  )
})

describe("thread/start.dynamicTools", () => {
  const taken: ToolRuntime["Service"] = {
    ...ToolRuntime.simple({ specs: () => [], run: () => Effect.succeed("") }),
    isTaken: (name) => Effect.succeed(name === "shell"),
  }
  const bad: ReadonlyArray<readonly [string, object, string]> = [
    ["a name with a space", { name: "a b" }, "dynamicTools.1.name: expected 1 to 64"],
    ["a name that is too long", { name: "n".repeat(65) }, "dynamicTools.1.name"],
    ["a namespace with a dot", { name: "n", namespace: "a.b" }, "dynamicTools.1.namespace"],
    ["a name that is given already", { name: "look" }, "dynamicTools.1.name: another tool"],
    ["the name of a tool of the program", { name: "shell" }, "dynamicTools.1.name: `shell` is"],
    [
      "a schema of something else",
      { name: "n", inputSchema: { type: "string" } },
      'dynamicTools.1.inputSchema: expected a schema of `type: "object"`',
    ],
    [
      "a schema that cannot be checked",
      { name: "n", inputSchema: { type: "object", properties: { a: { $ref: "#/no" } } } },
      "dynamicTools.1.inputSchema",
    ],
    ["no schema", { name: "n", inputSchema: "none" }, "dynamicTools.1.inputSchema"],
  ]
  for (const [what, member, message] of bad) {
    it.effect(`refuses ${what}`, () =>
      withThreads({ tools: taken }, (app) =>
        Effect.gen(function* () {
          const dynamicTools = [tool, { ...tool, ...member }]
          const answer = yield* app.ask("start", "thread/start", { dynamicTools })
          const error = errorOf(answer)
          assert.strictEqual(error.code, -32600)
          assert.include(String(error.message), message)
          assert.isFalse(app.messages.some(({ method }) => method === "thread/started"))
        }),
      ),
    )
  }
})
