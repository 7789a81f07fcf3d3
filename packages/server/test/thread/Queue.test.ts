/** The queue of input of a thread, which its clients see and change. */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { errorOf, resultOf, unknownId } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const words = (text: string) => [{ type: "text", text }]
const shown = (text: string) => [{ type: "text", text, text_elements: [] }]

let next = 0
const result = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`queue ${next++}`, method, params), resultOf)

const fault = (app: Harness, method: string, params: object) =>
  Effect.map(app.ask(`queue ${next++}`, method, params), errorOf)

const add = (app: Harness, threadId: string, text: string) =>
  Effect.map(result(app, "thread/queue/add", { threadId, input: words(text) }), (answer) =>
    String(at(answer, "queuedSubmission", "id")),
  )

/** The texts in the queue. */
const queue = (app: Harness, threadId: string) =>
  Effect.map(result(app, "thread/queue/list", { threadId }), ({ data }) =>
    (data as ReadonlyArray<unknown>).map((one) => at(one, "input", 0, "text")),
  )

/** The texts that the user has sent, in the order of the turns. */
const sent = (app: Harness) =>
  told(app, "item/completed").flatMap((one) =>
    at(one, "item", "type") === "userMessage" ? [at(one, "item", "content", 0, "text")] : [],
  )

const slow = Script.reply(Script.text("slow"), Script.delay("1 second"))
const answered = Script.reply(Script.text("yes"))

/** A thread whose first turn runs until a second has passed. */
const busy = Effect.fnUntraced(function* (app: Harness) {
  const threadId = yield* started(app)
  const turnId = yield* turn(app, threadId, "first")
  yield* app.quiet
  return { threadId, turnId }
})

/** A thread whose queue is held, because its turn was interrupted. */
const held = Effect.fnUntraced(function* (app: Harness, ...texts: ReadonlyArray<string>) {
  const { threadId, turnId } = yield* busy(app)
  const ids = yield* Effect.forEach(texts, (text) => add(app, threadId, text))
  yield* result(app, "turn/interrupt", { threadId, turnId })
  yield* app.quiet
  return { threadId, ids }
})

const hanging = [Script.reply(Script.bareDeltas("half"), Script.hang), answered, answered]

describe("thread/queue/add", () => {
  it.effect("queues input behind the running turn, which starts by itself", () =>
    withThreads({ script: [slow, answered] }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* busy(app)
        const before = app.messages.length
        const { queuedSubmission } = yield* result(app, "thread/queue/add", {
          threadId,
          input: words("queued"),
          clientUserMessageId: "q1",
        })
        yield* app.quiet
        const id = String(at(queuedSubmission, "id"))
        assert.deepStrictEqual(queuedSubmission, {
          id,
          input: shown("queued"),
          clientUserMessageId: "q1",
          responsesapiClientMetadata: null,
        })
        assert.deepStrictEqual(lines(app, before).slice(1), ["thread/queue/changed"])
        const listed = yield* result(app, "thread/queue/list", { threadId })
        assert.deepStrictEqual(listed, { data: [queuedSubmission], nextCursor: null })
        const waited = app.messages.length
        yield* TestClock.adjust("1 second")
        yield* app.quiet
        assert.deepStrictEqual(lines(app, waited), [
          "thread/tokenUsage/updated",
          "thread/readState/changed",
          "thread/status/changed idle",
          "turn/completed",
          "thread/queue/changed",
          "thread/status/changed active",
          "turn/started",
          "item/started userMessage",
          "item/completed userMessage",
          "item/started agentMessage",
          "item/agentMessage/delta",
          "item/completed agentMessage",
          "thread/tokenUsage/updated",
          "thread/readState/changed",
          "thread/status/changed idle",
          "turn/completed",
        ])
        // The turn has the id of the queued input.
        assert.strictEqual(at(told(app, "turn/completed"), 1, "turn", "id"), id)
        assert.deepStrictEqual(sent(app), ["first", "queued"])
        assert.strictEqual(at(told(app, "item/completed").at(-2), "item", "clientId"), "q1")
        assert.deepStrictEqual(yield* queue(app, threadId), [])
      }),
    ),
  )

  it.effect("starts a turn at once where none runs, and subscribes its caller", () =>
    withThreads({ script: [answered] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* result(app, "thread/unsubscribe", { threadId })
        const id = yield* add(app, threadId, "now")
        yield* app.quiet
        assert.strictEqual(at(told(app, "turn/completed"), 0, "turn", "id"), id)
        assert.deepStrictEqual(yield* queue(app, threadId), [])
      }),
    ),
  )

  it.effect(
    "refuses empty input, images elsewhere, an unknown thread and more than the limit",
    () =>
      withThreads({ script: hanging }, (app) =>
        Effect.gen(function* () {
          const { threadId } = yield* busy(app)
          const empty = yield* fault(app, "thread/queue/add", { threadId, input: [] })
          assert.deepInclude(empty, { code: -32600, message: "input must not be empty" })
          const image = { type: "image", url: "https://example.org/a.png" }
          const remote = yield* fault(app, "thread/queue/add", { threadId, input: [image] })
          assert.include(String(remote.message), "remote image URLs are not supported")
          const lost = yield* fault(app, "thread/queue/add", {
            threadId: unknownId,
            input: words("lost"),
          })
          assert.deepInclude(lost, { code: -32600, message: `thread not found: ${unknownId}` })
          const bad = yield* fault(app, "thread/queue/add", { threadId })
          assert.include(String(bad.message), "params.input")
          for (let i = 0; i < 64; i++) yield* add(app, threadId, `q${i}`)
          const full = yield* fault(app, "thread/queue/add", { threadId, input: words("more") })
          assert.include(String(full.message), "64 submissions are queued already")
        }),
      ),
  )
})

describe("thread/queue/list", () => {
  it.effect("gives pages in the order of the queue", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* busy(app)
        const ids = yield* Effect.forEach(["a", "b", "c"], (text) => add(app, threadId, text))
        const page = (cursor?: unknown) =>
          result(app, "thread/queue/list", { threadId, limit: 2, cursor })
        const first = yield* page(null)
        const second = yield* page(first["nextCursor"])
        const idsOf = ({ data }: typeof first) =>
          (data as ReadonlyArray<unknown>).map((one) => at(one, "id"))
        assert.deepStrictEqual([...idsOf(first), ...idsOf(second)], ids)
        assert.isNull(second["nextCursor"])
        const bad = yield* fault(app, "thread/queue/list", { threadId, cursor: "x" })
        assert.strictEqual(bad.message, "invalid cursor: x")
      }),
    ),
  )
})

describe("thread/queue/update", () => {
  it.effect("replaces the input in its place, and refuses input that is not queued", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const { ids, threadId } = yield* held(app, "a", "b")
        const [id = ""] = ids
        const params = { threadId, queuedSubmissionId: id, input: words("better") }
        const { queuedSubmission } = yield* result(app, "thread/queue/update", params)
        assert.deepInclude(queuedSubmission, { id, input: shown("better") })
        assert.deepStrictEqual(yield* queue(app, threadId), ["better", "b"])
        const unknown = yield* fault(app, "thread/queue/update", {
          ...params,
          queuedSubmissionId: "x",
        })
        assert.deepInclude(unknown, {
          code: -32600,
          message: "submission `x` is not in the queue",
        })
        const empty = yield* fault(app, "thread/queue/update", { ...params, input: [] })
        assert.strictEqual(empty.message, "input must not be empty")
      }),
    ),
  )
})

describe("thread/queue/delete", () => {
  it.effect("removes queued input, and says so once", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const { ids, threadId } = yield* held(app, "a", "b")
        const params = { threadId, queuedSubmissionId: ids[0] }
        const before = app.messages.length
        assert.deepStrictEqual(yield* result(app, "thread/queue/delete", params), { deleted: true })
        yield* app.quiet
        assert.deepStrictEqual(lines(app, before).slice(1), ["thread/queue/changed"])
        assert.deepStrictEqual(yield* result(app, "thread/queue/delete", params), {
          deleted: false,
        })
        assert.deepStrictEqual(yield* queue(app, threadId), ["b"])
      }),
    ),
  )
})

describe("thread/queue/reorder", () => {
  it.effect("queued input is no turn to interrupt", () =>
    withThreads({ script: [slow, answered] }, (app) =>
      Effect.gen(function* () {
        const { threadId } = yield* busy(app)
        const turnId = yield* add(app, threadId, "queued")
        assert.deepInclude(yield* fault(app, "turn/interrupt", { threadId, turnId }), {
          code: -32600,
          message: `turn ${turnId} is queued and has not started; \`thread/queue/delete\` removes it`,
        })
        assert.deepStrictEqual(yield* queue(app, threadId), ["queued"])
      }),
    ),
  )

  it.effect("changes the order, and refuses one that does not name all", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const { ids, threadId } = yield* held(app, "a", "b", "c")
        const [a, b, c] = ids
        const reorder = (...queuedSubmissionIds: ReadonlyArray<string | undefined>) => ({
          threadId,
          queuedSubmissionIds,
        })
        assert.deepStrictEqual(yield* result(app, "thread/queue/reorder", reorder(c, a, b)), {})
        assert.deepStrictEqual(yield* queue(app, threadId), ["c", "a", "b"])
        const partial = yield* fault(app, "thread/queue/reorder", reorder(a, b))
        assert.include(String(partial.message), "each of the 3 queued submissions once")
        const unknown = yield* fault(app, "thread/queue/reorder", reorder(a, b, "x"))
        assert.strictEqual(unknown.message, "submission `x` is not in the queue")
      }),
    ),
  )
})

describe("thread/queue/start", () => {
  it.effect("starts the chosen input of a queue that an interrupt holds; the rest follows", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const { ids, threadId } = yield* held(app, "a", "b")
        assert.deepStrictEqual(yield* queue(app, threadId), ["a", "b"])
        assert.deepStrictEqual(at(told(app, "thread/status/changed").at(-1), "status"), {
          type: "idle",
        })
        const params = { threadId, queuedSubmissionId: ids[1] }
        const { turn: running } = yield* result(app, "thread/queue/start", params)
        assert.strictEqual(at(running, "id"), ids[1])
        yield* app.quiet
        assert.deepStrictEqual(sent(app), ["first", "b", "a"])
        const none = yield* fault(app, "thread/queue/start", { threadId })
        assert.deepInclude(none, { code: -32600, message: "the queue is empty" })
      }),
    ),
  )

  it.effect("is an error while a turn runs", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const { threadId, turnId } = yield* busy(app)
        yield* add(app, threadId, "a")
        const error = yield* fault(app, "thread/queue/start", { threadId })
        assert.deepInclude(error, { code: -32600, message: `turn \`${turnId}\` is running` })
      }),
    ),
  )
})

describe("thread/queue/changed", () => {
  it.effect("notifies every subscriber of each change, whoever makes it", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const { ids, threadId } = yield* held(app, "a")
        const other = yield* app.another
        const params = {
          clientInfo: { name: "other", version: "1" },
          capabilities: { experimentalApi: true },
        }
        yield* other.ask("hello", "initialize", params)
        yield* result(other, "thread/resume", { threadId })
        yield* app.quiet
        const before = told(app, "thread/queue/changed").length
        yield* result(other, "thread/queue/delete", { threadId, queuedSubmissionId: ids[0] })
        yield* app.quiet
        assert.deepStrictEqual(told(app, "thread/queue/changed").slice(before), [{ threadId }])
        assert.deepStrictEqual(told(other, "thread/queue/changed"), [{ threadId }])
      }),
    ),
  )
})
