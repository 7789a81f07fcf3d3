import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ConversationUnavailable } from "../src/ConversationErrors.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { LeaseLost, StoreError, StoreLimit } from "../src/StoreErrors.ts"
import type { LogRecord } from "../src/LogRecord.ts"
import { exec } from "./approvals.ts"
import { diskFull, observed } from "./stores.ts"
import {
  answer,
  callItem,
  completed,
  done,
  durableOf,
  isEnd,
  isType,
  loadedIds,
  managerLayer,
  says,
  scripted,
  type Script,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  tools,
  typesOf,
} from "./support.ts"

type Observed = ReturnType<typeof observed>

/** A manager over the store, as one process has it. Closing the scope shuts that process down in order. */
const processOver = Effect.fnUntraced(function* (
  store: Observed,
  script: Script = scripted(answer("yes")),
  options: Parameters<typeof managerLayer>[1] = {},
) {
  const scope = yield* Scope.make()
  yield* TestClock.adjust(0)
  const services = yield* Layer.buildWithScope(
    Layer.fresh(managerLayer(script, { ...options, store: store.layer })),
    scope,
  )
  return {
    manager: Context.get(services, ConversationManager),
    close: Scope.close(scope, Exit.void),
  }
})

const full = new StoreError({ operation: "append", reason: "Full", message: "no space left" })

const tagsOf = (records: ReadonlyArray<LogRecord>) =>
  records.map((record) => (record._tag === "Event" ? record.event.msg.type : record._tag))

describe("recording", () => {
  it.effect("L10 a conversation is recorded, synced, when create returns", () =>
    Effect.gen(function* () {
      const store = observed()
      const { manager } = yield* processOver(store)
      const { id } = yield* manager.create(settings)
      assert.deepStrictEqual(tagsOf(store.records(id)), [
        "session_configured",
        "raw_response_item",
        "Settings",
      ])
    }),
  )

  it.effect(
    "L3 L10 a conversation that cannot be recorded is not created, and cannot be found",
    () =>
      Effect.gen(function* () {
        const store = observed()
        store.faults.create = () => diskFull("create")
        const { manager } = yield* processOver(store)
        const error = yield* Effect.flip(manager.create(settings))
        assert.strictEqual(error._tag, "StoreError")
        assert.deepStrictEqual((yield* manager.list()).items, [])
      }),
  )

  it.effect("L10 input is recorded before it is acknowledged and before any listener gets it", () =>
    Effect.gen(function* () {
      const store = observed()
      const { manager } = yield* processOver(store, scripted(Stream.never))
      const conversation = yield* manager.create(settings)
      const listener = yield* conversation.attach()
      const gate = yield* Deferred.make<void>()
      store.faults.append = (_, really) => Effect.andThen(Deferred.await(gate), really)
      const submitting = yield* Effect.forkChild(conversation.submit(says("hi")))
      const hearing = yield* Effect.forkChild(takeUntil(listener, isType("user_message")))
      yield* settle
      assert.isUndefined(submitting.pollUnsafe())
      assert.isUndefined(hearing.pollUnsafe())
      assert.strictEqual((yield* conversation.state).turn, undefined)
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(submitting), { id: "0", disposition: "started" })
      assert.include(typesOf(yield* Fiber.join(hearing)), "task_started")
      assert.deepStrictEqual(tagsOf(store.records(conversation.id)).slice(3), [
        "Submission",
        "task_started",
        "raw_response_item",
        "user_message",
      ])
    }),
  )

  it.effect("L10 an answer is recorded before it takes effect", () =>
    Effect.gen(function* () {
      const store = observed()
      const verdicts: Array<string> = []
      const ask = tools({
        ask: (_, { approve }) =>
          Effect.map(approve(exec("c")), ({ decision }) => {
            verdicts.push(decision)
            return decision
          }),
      })
      const script = scripted([done(callItem("ask", "c")), completed], answer("end"))
      const { manager } = yield* processOver(store, script, { tools: ask })
      const conversation = yield* manager.create(settings)
      const listener = yield* conversation.attach({ answers: true })
      yield* conversation.submit(says("hi"))
      yield* takeUntil(listener, ({ _tag }) => _tag === "Ask")
      const gate = yield* Deferred.make<void>()
      store.faults.append = (_, really) => Effect.andThen(Deferred.await(gate), really)
      yield* Effect.forkChild(
        conversation.submit({ type: "exec_approval", id: "c", decision: "approved" }),
      )
      yield* settle
      assert.deepStrictEqual(verdicts, [])
      delete store.faults.append
      yield* Deferred.succeed(gate, undefined)
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(verdicts, ["approved"])
    }),
  )

  it.effect("L10 what cannot be recorded has no effect, and the server continues", () =>
    Effect.gen(function* () {
      for (const fault of [
        full,
        new StoreLimit({ id: "x", limit: "events", max: 5 }),
        new LeaseLost({ id: "x", generation: 1 }),
      ]) {
        const store = observed()
        const { manager } = yield* processOver(store, scripted(answer("yes")))
        const conversation = yield* manager.create(settings)
        const other = yield* manager.create(settings)
        const listener = yield* conversation.attach({ from: 0 })
        store.faults.append = () => Effect.fail(fault)
        assert.deepStrictEqual(
          yield* Effect.exit(conversation.submit(says("lost"), { id: "mine" })),
          Exit.fail(
            new ConversationUnavailable({
              id: conversation.id,
              reason: fault.message,
              because: fault,
            }),
          ),
        )
        // Its listeners end without an event of the turn, and the conversation is no longer in memory.
        assert.notInclude(typesOf(yield* takeToEnd(listener)), "task_started")
        yield* settle
        assert.deepStrictEqual(yield* loadedIds(manager), [other.id])
        delete store.faults.append
        // The submission id is still unused, and the same conversation can be used again.
        const again = yield* conversation.attach()
        assert.deepStrictEqual(yield* conversation.submit(says("again"), { id: "mine" }), {
          id: "mine",
          disposition: "started",
        })
        yield* takeUntil(again, isEnd)
        yield* other.submit(says("hi"))
      }
    }),
  )

  it.effect(
    "L5 L10 a turn that cannot be recorded any more is stopped, and its end is delivered later",
    () =>
      Effect.gen(function* () {
        const store = observed()
        let stopped = 0
        const slow = tools({
          slow: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++)),
        })
        const script = scripted([done(callItem("slow", "c")), completed])
        const { manager } = yield* processOver(store, script, { tools: slow })
        const conversation = yield* manager.create(settings)
        yield* conversation.submit(says("hi"))
        yield* settle
        store.faults.append = () => Effect.fail(full)
        yield* Effect.exit(conversation.submit(says("more")))
        yield* settle
        assert.strictEqual(stopped, 1)
        delete store.faults.append
        const listener = yield* conversation.attach({ from: 0 })
        const events = durableOf(yield* takeUntil(listener, ({ _tag }) => _tag === "Synced"))
        assert.deepStrictEqual(
          events.slice(-2).map(({ msg }) => msg),
          [
            {
              type: "raw_response_item",
              item: {
                type: "function_call_output",
                call_id: "c",
                output:
                  "the process ended while this call ran; it was interrupted, and whether it took effect is unknown",
              },
            },
            { type: "turn_aborted", reason: "interrupted" },
          ],
        )
      }),
  )

  it.effect(
    "L6 stops waiting for a store that does not respond, and continues from what it has recorded",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const { manager } = yield* processOver(store, scripted(Stream.never))
        const conversation = yield* manager.create(settings)
        store.faults.append = () => Effect.never
        const submitting = yield* Effect.forkChild(Effect.flip(conversation.submit(says("hi"))))
        yield* settle
        yield* TestClock.adjust("10 seconds")
        const error = yield* Fiber.join(submitting)
        assert.strictEqual(
          error.message,
          `conversation ${conversation.id} is not available: the store did not answer in time`,
        )
      }),
  )
})

describe("one writer", () => {
  it.effect(
    "L16 a conversation whose lease another process holds is not loaded, and the holder is named",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const first = yield* processOver(store)
        const { id } = yield* first.manager.create(settings)
        const second = yield* processOver(store)
        const error = yield* Effect.flip(second.manager.get(id))
        assert.strictEqual(error._tag, "ConversationUnavailable")
        assert.strictEqual(
          error._tag === "ConversationUnavailable" ? error.because?._tag : undefined,
          "LeaseHeld",
        )
        assert.match(error.message, /^conversation \S+ is not available: in use by /)
        // The second process lists the conversation, and can load it once the first process has ended.
        assert.deepStrictEqual(
          (yield* second.manager.list()).items.map((item) => [item.id, item.loaded]),
          [[id, false]],
        )
        yield* first.close
        assert.strictEqual((yield* second.manager.get(id)).id, id)
      }),
  )

  it.effect("L16 an evicted conversation releases its lease", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, scripted(answer("yes")), {
        idleTimeToLive: "1 minute",
      })
      const { id } = yield* first.manager.create(settings)
      yield* TestClock.adjust("1 minute")
      const second = yield* processOver(store)
      assert.strictEqual((yield* second.manager.get(id)).id, id)
    }),
  )

  it.effect("L16 a writer whose lease was taken over records nothing more", () =>
    Effect.gen(function* () {
      const store = observed()
      const { manager } = yield* processOver(store)
      const conversation = yield* manager.create(settings)
      const { id } = conversation
      const lost = new LeaseLost({ id, generation: 1 })
      let appends = 0
      store.faults.append = () => {
        appends++
        return Effect.fail(lost)
      }
      const before = store.records(id)
      yield* Effect.exit(conversation.submit(says("one")))
      yield* settle
      assert.strictEqual(appends, 1)
      assert.deepStrictEqual(store.records(id), before)
    }),
  )
})
