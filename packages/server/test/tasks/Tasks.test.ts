import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { InputRequest } from "../../src/mcp/RequestContext.ts"
import { type ResponseDelivery, Tasks, type NewTask } from "../../src/tasks/Tasks.ts"

const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] })

const form = (message: string): InputRequest => ({
  method: "elicitation/create",
  params: { message },
})

const accept = (content: Record<string, unknown>) => Exit.succeed({ action: "accept", content })

const order = (run: NewTask["run"], more: Partial<NewTask> = {}): NewTask => ({
  principal: "me",
  run,
  ...more,
})

const forever = order(() => Effect.never)

/** Runs everything that can run without time passing. */
const settle = TestClock.adjust(0)

const ask = order((task) =>
  Effect.map(task.ask({ name: form("who?"), sure: form("sure?") }), (answers) =>
    said(JSON.stringify(answers)),
  ),
)

describe("Tasks", () => {
  it.effect("finds a task by its id as soon as it is created", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make()
      const task = yield* tasks.create(forever)
      assert.strictEqual(yield* tasks.get("me", task.id), task)
      assert.match(task.id, /^[\w-]{22}$/)
    }),
  )

  it.effect("keeps the result of the work, and its error unchanged", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make()
      const error = new JsonRpcError({ code: -32602, message: "no", data: { at: 1 } })
      const good = yield* tasks.create(order(() => Effect.succeed(said("42"))))
      const bad = yield* tasks.create(order(() => Effect.fail(error)))
      const dead = yield* tasks.create(order(() => Effect.die("oops")))
      yield* settle
      assert.deepStrictEqual((yield* tasks.get("me", good.id)).end, {
        _tag: "Result",
        result: said("42"),
      })
      assert.deepStrictEqual((yield* tasks.get("me", bad.id)).end, { _tag: "Error", error })
      const { end, message } = yield* tasks.get("me", dead.id)
      assert.strictEqual(message, "Internal error")
      assert.strictEqual(end?._tag === "Error" && end.error.code, -32603)
    }),
  )

  it.effect("continues when the fiber that created it has ended", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make()
      const maker = yield* Effect.forkChild(
        Effect.flatMap(
          tasks.create(order(() => Effect.as(Effect.sleep("1 minute"), said("late")))),
          ({ id }) => Effect.as(Effect.yieldNow, id),
        ),
      )
      const id = yield* Fiber.join(maker)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* tasks.get("me", id)).end?._tag, "Result")
    }),
  )

  it.effect(
    "waits for all answers, accepts them one by one, and ignores keys of no pending question",
    () =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make()
        const { id } = yield* tasks.create(ask)
        yield* settle
        const keys = Effect.map(tasks.get("me", id), ({ questions }) => [...questions.keys()])
        assert.deepStrictEqual(yield* keys, ["1-name", "2-sure"])
        yield* tasks.answer("me", id, { "1-name": accept({ n: "Ann" }), nonsense: accept({}) })
        yield* tasks.answer("me", id, { "1-name": accept({ n: "Eve" }) })
        assert.deepStrictEqual(yield* keys, ["2-sure"])
        yield* tasks.answer("me", id, { "2-sure": accept({ s: true }) })
        yield* settle
        assert.deepStrictEqual((yield* tasks.get("me", id)).end, {
          _tag: "Result",
          result: said(
            JSON.stringify({
              name: { action: "accept", content: { n: "Ann" } },
              sure: { action: "accept", content: { s: true } },
            }),
          ),
        })
      }),
  )

  it.effect("fails the work with an error as the answer, and ignores the other answers", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make()
      const { id } = yield* tasks.create(ask)
      yield* settle
      const error = new JsonRpcError({ code: -1, message: "user is away" })
      yield* tasks.answer("me", id, { "1-name": Exit.fail(error) })
      yield* settle
      const task = yield* tasks.get("me", id)
      assert.deepStrictEqual([task.end, task.questions.size], [{ _tag: "Error", error }, 0])
    }),
  )

  it.effect("withdraws a question when the work no longer waits for it", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make()
      const { id } = yield* tasks.create(
        order((task) =>
          Effect.as(
            Effect.timeoutOption(task.ask({ name: form("who?") }), "1 minute"),
            said("nobody"),
          ).pipe(Effect.tap(task.setMessage("done")), Effect.andThen(Effect.never)),
        ),
      )
      yield* settle
      assert.strictEqual((yield* tasks.get("me", id)).questions.size, 1)
      yield* TestClock.adjust("1 minute")
      const { questions, message, updatedAtMs } = yield* tasks.get("me", id)
      assert.deepStrictEqual([questions.size, message, updatedAtMs], [0, "done", 60_000])
    }),
  )

  it.effect(
    "stops the work of a cancelled task, which stays cancelled whatever the work returns",
    () =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make()
        const stopped = yield* Deferred.make<void>()
        const { id } = yield* tasks.create(
          order(() => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))),
        )
        const stubborn = yield* tasks.create(
          order(() => Effect.uninterruptible(Effect.as(Effect.sleep("1 second"), said("ha")))),
        )
        yield* settle
        assert.isUndefined((yield* tasks.cancel("me", id)).end)
        yield* tasks.cancel("me", stubborn.id)
        assert.deepStrictEqual((yield* tasks.get("me", id)).end, { _tag: "Cancelled" })
        yield* Deferred.await(stopped)
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual((yield* tasks.get("me", stubborn.id)).end, { _tag: "Cancelled" })
        assert.deepStrictEqual((yield* tasks.cancel("me", id)).end, { _tag: "Cancelled" })
      }),
  )

  it.effect(
    "fails in the same way for a task of another principal as for one that never existed",
    () =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make()
        const { id } = yield* tasks.create(ask)
        yield* settle
        const refused = (principal: string, of: string) =>
          Effect.forEach(
            [
              tasks.get(principal, of),
              tasks.cancel(principal, of),
              tasks.answer(principal, of, { "1-name": accept({}) }),
              tasks.changed(principal, of, 0),
            ],
            (one) => Effect.map(Effect.flip(one), ({ _tag, message }) => `${_tag}: ${message}`),
          )
        assert.deepStrictEqual(yield* refused("eve", id), yield* refused("me", "never"))
        assert.strictEqual((yield* tasks.get("me", id)).questions.size, 2)
      }),
  )

  it.effect("resolves `changed` with the changed task, and not before the change", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make()
      const go = yield* Deferred.make<void>()
      const { id, version } = yield* tasks.create(
        order((task) =>
          Deferred.await(go).pipe(
            Effect.andThen(task.setMessage("one")),
            Effect.andThen(Effect.sleep("1 second")),
            Effect.as(said("two")),
          ),
        ),
      )
      const waiting = yield* Effect.forkChild(tasks.changed("me", id, version))
      yield* settle
      assert.isUndefined(waiting.pollUnsafe())
      yield* Deferred.succeed(go, undefined)
      const first = yield* Fiber.join(waiting)
      assert.strictEqual(first.message, "one")
      const next = yield* Effect.forkChild(tasks.changed("me", id, first.version))
      yield* settle
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const last = yield* Fiber.join(next)
      assert.strictEqual(last.end?._tag, "Result")
      assert.strictEqual(yield* tasks.changed("me", id, version), last)
    }),
  )

  it.effect("clamps a requested ttl to its bounds", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make({ defaultTtl: "1 minute", maxTtl: "1 hour" })
      const ttlOf = (ttlMs?: number | null) =>
        Effect.map(
          tasks.create({ ...forever, ...(ttlMs === undefined ? {} : { ttlMs }) }),
          (task) => task.ttlMs,
        )
      assert.deepStrictEqual(
        yield* Effect.forEach([undefined, null, 0, 1500.2, 1e300, Infinity], ttlOf),
        [60_000, 3_600_000, 1000, 1501, 3_600_000, 3_600_000],
      )
      const unbounded = yield* Tasks.make({ maxTtl: null })
      assert.strictEqual((yield* unbounded.create({ ...forever, ttlMs: null })).ttlMs, null)
    }),
  )

  it.effect(
    "removes an ended task when its ttl has passed, resolves waiting callers, and makes room",
    () =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make({ maxTasks: 2 })
        const short = yield* tasks.create(order(() => Effect.succeed(said("a")), { ttlMs: 5000 }))
        const long = yield* tasks.create(order(() => Effect.succeed(said("b")), { ttlMs: 9000 }))
        const refused = yield* Effect.flip(tasks.create(forever))
        assert.strictEqual(refused.limit, "maxTasks")
        yield* settle
        const ended = yield* tasks.get("me", short.id)
        const waiting = yield* Effect.forkChild(
          Effect.flip(tasks.changed("me", short.id, ended.version)),
        )
        yield* TestClock.adjust(4999)
        assert.isUndefined(waiting.pollUnsafe())
        yield* TestClock.adjust(1)
        assert.strictEqual((yield* Fiber.join(waiting))._tag, "UnknownTask")
        assert.strictEqual((yield* Effect.flip(tasks.get("me", short.id)))._tag, "UnknownTask")
        assert.deepStrictEqual(
          (yield* tasks.list("me")).tasks.map(({ id }) => id),
          [long.id],
        )
        yield* tasks.create(forever)
        assert.strictEqual((yield* Effect.flip(tasks.create(forever))).limit, "maxTasks")
      }),
  )

  it.effect("removes a task whose response was never sent", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make({ maxTasks: 1 })
      const delivered = yield* Deferred.make<ResponseDelivery>()
      let ran = false
      const { id } = yield* tasks.create(
        order(() => Effect.sync(() => ((ran = true), said("x"))), {
          delivery: Deferred.await(delivered),
        }),
      )
      yield* settle
      assert.isUndefined((yield* tasks.get("me", id)).end)
      yield* Deferred.succeed(delivered, "unsent")
      yield* settle
      assert.strictEqual((yield* Effect.flip(tasks.get("me", id)))._tag, "UnknownTask")
      assert.isFalse(ran)
      yield* tasks.create(forever)
    }),
  )

  it.effect(
    "keeps a task as cancelled when its client may have received the response before it cancelled",
    () =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make()
        let ran = false
        const { id } = yield* tasks.create(
          order(() => Effect.sync(() => ((ran = true), said("x"))), {
            delivery: Effect.succeed("unknown"),
          }),
        )
        yield* settle
        assert.deepStrictEqual((yield* tasks.get("me", id)).end, { _tag: "Cancelled" })
        assert.isFalse(ran)
      }),
  )

  it.effect(
    "L8 the end of the service stops all work, and waits no longer than its bound for what does not stop",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const tasks = yield* Scope.provide(Tasks.make(), scope)
        let stopped = 0
        const work = order(() =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.andThen(
              Effect.sleep("1 second"),
              Effect.sync(() => stopped++),
            ),
          ),
        )
        yield* tasks.create(work)
        const { id } = yield* tasks.create(work)
        yield* tasks.create(order(() => Effect.uninterruptible(Effect.never)))
        yield* settle
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(stopped, 2)
        const { end } = yield* tasks.get("me", id)
        assert.strictEqual(
          end?._tag === "Error" && end.error.message,
          "the server is shutting down; the request may have been carried out",
        )
        assert.isUndefined(closing.pollUnsafe())
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(closing)
      }),
  )

  it.effect(
    "L6 thousands of tasks of one owner are refused, and leave nothing behind after their end",
    () =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make()
        const quick = order(() => Effect.succeed(said("x")), { ttlMs: 1000 })
        const made = yield* Effect.forEach(Array.from({ length: 3000 }), () =>
          Effect.result(tasks.create(quick)),
        )
        assert.strictEqual(made.filter(({ _tag }) => _tag === "Success").length, 1024)
        yield* tasks.create({ ...quick, principal: "another" })
        yield* settle
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* tasks.list("me"), { tasks: [] })
        yield* tasks.create(quick)
      }),
  )

  it.effect("lists all pages of an owner's tasks, each task once", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make()
      const made = yield* Effect.forEach(Array.from({ length: 250 }), () => tasks.create(forever))
      const ids: Array<string> = []
      let after: number | undefined = 0
      let pages = 0
      while (after !== undefined) {
        const page: {
          readonly tasks: ReadonlyArray<{ readonly id: string }>
          readonly next?: number
        } = yield* tasks.list("me", after)
        ids.push(...page.tasks.map(({ id }) => id))
        after = page.next
        pages++
      }
      assert.strictEqual(pages, 3)
      assert.deepStrictEqual(
        ids,
        made.map(({ id }) => id),
      )
      assert.strictEqual(new Set(ids).size, 250)
    }),
  )
})
