/** What a client gets that joins a thread while a turn runs: every item that it is notified of has a beginning for it. */
import type { ApprovalRequest } from "@colloquy/core/approvals/Approval"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { hello, resultOf } from "../support/AppHarness.ts"
import { asking, exec, oneCall } from "../support/Asking.ts"
import { endless } from "../support/Endless.ts"
import type { Harness } from "../support/Harness.ts"
import { command } from "../support/RunningCommands.ts"
import { at, asked, started, told, turn, withThreads } from "../support/Threading.ts"

const patch: ApprovalRequest = {
  _tag: "Patch",
  callId: "c",
  changes: { "/work/a": { add: { content: "a" } } },
}

const calling: Script.ProviderScript = [
  Script.reply(Script.toolCall("run", {}, "c")),
  Script.reply(Script.text("done")),
]

const listOf = (value: unknown, ...path: ReadonlyArray<string | number>) =>
  (at(value, ...path) ?? []) as ReadonlyArray<unknown>

/** Another connection. */
const joiner = (app: Harness) =>
  Effect.tap(app.another, (other) => hello(other, { experimentalApi: true }))

/** The items of turns that have no end yet. */
const openIn = (turns: ReadonlyArray<unknown>) =>
  turns.flatMap((one) => listOf(one, "items")).filter((item) => at(item, "completedAtMs") === null)

const itemId = (params: unknown): unknown => at(params, "item", "id") ?? at(params, "itemId")

/** Checks that every item which the client is notified of has begun for it, once, and ends once. */
const assertBegun = (client: Harness, known: ReadonlyArray<unknown>) => {
  const open = new Set(known.map((item) => at(item, "id")))
  for (const { id, method = "", params } of client.messages) {
    if (!method.startsWith("item/") || itemId(params) === undefined) continue
    const about = itemId(params)
    if (method === "item/started") {
      assert.isFalse(open.has(about), `${String(about)} starts twice`)
      open.add(about)
    } else {
      assert.isTrue(open.has(about), `${method} ${String(id)} of ${String(about)}, not begun`)
      if (method === "item/completed") open.delete(about)
    }
  }
  assert.deepStrictEqual([...open], [])
}

/** The open items of a thread in all that reads it back. */
const readBack = (client: Harness, threadId: string) =>
  Effect.gen(function* () {
    const of = (id: string, method: string, params: object) =>
      Effect.map(client.ask(id, method, { threadId, ...params }), resultOf)
    const read = yield* of("read", "thread/read", { includeTurns: true })
    const turns = yield* of("turns", "thread/turns/list", { itemsView: "full" })
    const items = yield* of("items", "thread/items/list", {})
    const listed = listOf(items, "data").map((one) => at(one, "item"))
    return [
      openIn(listOf(read, "thread", "turns")),
      openIn(listOf(turns, "data")),
      openIn([{ items: listed }]),
    ]
  })

/** Resumes the thread on another connection while an item is open, and resolves with the items that are open then. */
const resumed = (app: Harness, threadId: string) =>
  Effect.gen(function* () {
    const other = yield* joiner(app)
    const answer = resultOf(yield* other.ask("resume", "thread/resume", { threadId }))
    const open = openIn(listOf(answer, "thread", "turns"))
    yield* other.quiet
    for (const back of yield* readBack(other, threadId)) assert.deepStrictEqual(back, open)
    return { other, open }
  })

describe("thread/resume has the open items of the running turn", () => {
  const questions = [
    ["a command", exec, "commandExecution", "item/commandExecution/requestApproval"],
    ["a patch", patch, "fileChange", "item/fileChange/requestApproval"],
  ] as const
  for (const [what, request, type, method] of questions) {
    it.effect(`${what} that waits for its approval`, () =>
      withThreads({ script: oneCall, tools: asking([request]).tools }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          yield* turn(app, threadId)
          yield* app.quiet
          const { open, other } = yield* resumed(app, threadId)
          const question = asked(other, method)
          assert.deepStrictEqual(
            open.map((item) => [at(item, "type"), at(item, "id"), at(item, "status")]),
            [[type, at(question.params, "itemId"), "inProgress"]],
          )
          assert.deepStrictEqual(open, [at(told(app, "item/started").at(-1), "item")])
          yield* other.send({ id: question.id, result: { decision: "accept" } })
          yield* other.quiet
          assertBegun(other, open)
          assert.lengthOf(told(other, "turn/completed"), 1)
        }),
      ),
    )
  }

  it.effect("a command that runs", () => {
    const tools = command(["one", "two"], { exitCode: 0, pause: Duration.seconds(1) })
    return withThreads({ script: calling, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const { open, other } = yield* resumed(app, threadId)
        assert.deepStrictEqual(open, [at(told(app, "item/started").at(-1), "item")])
        yield* TestClock.adjust("5 seconds")
        yield* other.quiet
        assertBegun(other, open)
        const deltas = told(other, "item/commandExecution/outputDelta")
        assert.strictEqual(deltas.map((one) => at(one, "delta")).join(""), "onetwo")
      }),
    )
  })

  it.effect("a call of a tool", () =>
    withThreads({ script: calling, tools: endless().tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { open, other } = yield* resumed(app, threadId)
        yield* other.ask("interrupt", "turn/interrupt", { threadId, turnId })
        yield* other.quiet
        assertBegun(other, open)
      }),
    ),
  )
})

describe("a message that is received", () => {
  it.effect("starts for a client that resumes the thread, with all of its text", () => {
    const script = [Script.reply(Script.bareDeltas("The be", "ginning"), Script.hang)]
    return withThreads({ script }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { open, other } = yield* resumed(app, threadId)
        yield* other.ask("interrupt", "turn/interrupt", { threadId, turnId })
        yield* other.quiet
        assertBegun(other, open)
        const deltas = told(other, "item/agentMessage/delta")
        assert.strictEqual(deltas.map((one) => at(one, "delta")).join(""), "The beginning")
      }),
    )
  })
})

describe("reasoning that is received", () => {
  const parts = ["one", "two", "three"]
  const part = (summary_index: number) =>
    Script.event({ type: "response.reasoning_summary_part.added", summary_index })
  const piece = (summary_index: number, delta: string) =>
    Script.event({ type: "response.reasoning_summary_text.delta", summary_index, delta })

  it.effect("starts for a client that resumes the thread, with all its sections", () => {
    const summary = parts.map((text) => ({ type: "summary_text", text }))
    const item = { type: "reasoning", id: "rs_1", summary }
    const before = [part(0), piece(0, "on"), piece(0, "e"), part(1), piece(1, "t")]
    const after = [piece(1, "wo"), part(2), piece(2, "three")]
    const done = Script.event({ type: "response.output_item.done", item })
    const script = [
      Script.reply(...before, Script.delay("1 second"), ...after, done, Script.text("done")),
    ]
    return withThreads({ script }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const { open, other } = yield* resumed(app, threadId)
        assert.deepStrictEqual(open, [])
        const deltas = (client: Harness) =>
          told(client, "item/reasoning/summaryTextDelta").map((one) => [
            at(one, "summaryIndex"),
            at(one, "delta"),
          ])
        const soFar = [
          [0, "one"],
          [1, "t"],
        ]
        assert.deepStrictEqual(deltas(other), soFar)
        yield* TestClock.adjust("5 seconds")
        yield* app.quiet
        yield* other.quiet
        assertBegun(other, open)
        assert.deepStrictEqual(deltas(other), [...soFar, [1, "wo"], [2, "three"]])
        const added = (client: Harness) => told(client, "item/reasoning/summaryPartAdded")
        assert.deepStrictEqual(
          added(other).map((one) => at(one, "summaryIndex")),
          [0, 1, 2],
        )
        assert.deepStrictEqual(added(other), added(app))
        const ended = (client: Harness) =>
          told(client, "item/completed").filter((one) => at(one, "item", "type") === "reasoning")
        assert.deepStrictEqual(ended(other), ended(app))
        assert.deepStrictEqual(
          ended(other).map((one) => at(one, "item", "summary")),
          [parts],
        )
      }),
    )
  })
})

describe("a client whose response has no items is notified of the beginnings", () => {
  const joins = [
    ["turn/start", (threadId: string) => ({ threadId, input: [{ type: "text", text: "more" }] })],
    ["thread/resume", (threadId: string) => ({ threadId, excludeTurns: true })],
    [
      "thread/resume",
      (threadId: string) => ({
        threadId,
        excludeTurns: true,
        initialTurnsPage: { itemsView: "summary" },
      }),
    ],
    [
      "review/start",
      (threadId: string) => ({ threadId, target: { type: "custom", instructions: "all" } }),
    ],
  ] as const
  for (const [method, params] of joins) {
    it.effect(`${method} ${Object.keys(params("")).join(", ")}`, () => {
      const tools = command(["one", "two"], { exitCode: 0, pause: Duration.seconds(1) })
      return withThreads({ script: calling, tools }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const turnId = yield* turn(app, threadId)
          yield* app.quiet
          const other = yield* joiner(app)
          const before = other.messages.length
          resultOf(yield* other.ask("join", method, params(threadId)))
          yield* other.quiet
          const methods = other.messages.slice(before).map((one) => one.method ?? "response")
          const shown = methods.filter((one) => !one.startsWith("thread/"))
          assert.deepStrictEqual(shown.slice(0, 3), ["response", "turn/started", "item/started"])
          assert.strictEqual(at(told(other, "turn/started"), 0, "turn", "id"), turnId)
          assert.deepStrictEqual(
            told(other, "item/started")[0],
            told(app, "item/started").findLast((one) => String(itemId(one)).includes("command")),
          )
          yield* TestClock.adjust("5 seconds")
          yield* other.quiet
          assertBegun(other, [])
        }),
      )
    })
  }

  it.effect("not where the response has them", () => {
    const tools = command(["one"], { exitCode: 0, pause: Duration.seconds(1) })
    return withThreads({ script: calling, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const other = yield* joiner(app)
        const params = { threadId, excludeTurns: true, initialTurnsPage: { itemsView: "full" } }
        const answer = resultOf(yield* other.ask("resume", "thread/resume", params))
        yield* TestClock.adjust("5 seconds")
        yield* other.quiet
        assertBegun(other, openIn(listOf(answer, "initialTurnsPage", "data")))
      }),
    )
  })
})
