/** A revert whose process ends before the turn that it interrupts. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../src/ConversationManager.ts"
import { historyOf } from "../src/log/History.ts"
import { observed } from "./stores.ts"
import { answer, managerLayer, says, scripted, type Script, settings, settle } from "./support.ts"

/** A manager over the store, as one process has it. Its scope is never closed, as when a process is killed. */
const processOver = Effect.fnUntraced(function* (
  store: ReturnType<typeof observed>,
  script: Script,
) {
  yield* TestClock.adjust(0)
  const services = yield* Layer.buildWithScope(
    Layer.fresh(managerLayer(script, { store: store.layer })),
    yield* Scope.make(),
  )
  return Context.get(services, ConversationManager)
})

describe("revert", () => {
  it.effect(
    "L10 L11 is carried out once, wherever the process is killed behind its receipt, and what is acknowledged behind it runs",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const script = scripted(answer("first"), Stream.never, answer("third"))
        const manager = yield* processOver(store, script)
        const { id } = yield* manager.create(settings)
        const conversation = yield* manager.get(id)
        for (const turn of ["a", "b"]) {
          yield* conversation.submit(says(`message ${turn}`), { id: turn })
          yield* settle
        }
        yield* Effect.all(
          [
            conversation.submit({ type: "revert", turn_id: "b" }, { id: "revert" }),
            conversation.submit(says("message c"), { id: "c" }),
          ],
          { concurrency: "unbounded" },
        )
        yield* settle
        const records = store.records(id)
        const { meta } = yield* store.inner.metadata({ id })
        const recorded = (name: string) =>
          1 + records.findIndex((record) => record._tag === "Submission" && record.id === name)
        for (let count = recorded("revert"); count <= records.length; count++) {
          const next = observed()
          yield* Effect.scoped(next.inner.create(meta, records.slice(0, count)))
          const other = yield* processOver(next, scripted(answer("third")))
          yield* other.get(id)
          yield* settle
          const log = (yield* other.history(id)).map(({ event }) => event)
          assert.deepStrictEqual(
            log.flatMap(({ id: of, msg }) =>
              msg.type === "thread_rolled_back" ? [{ of, ...msg }] : [],
            ),
            [{ of: "revert", type: "thread_rolled_back", num_turns: 1, turn_id: "b" }],
            `cut at ${count}`,
          )
          const left = JSON.stringify(historyOf(log))
          const isLeft = (turn: string) => left.includes(`message ${turn}`)
          assert.deepStrictEqual([isLeft("a"), isLeft("b")], [true, false], `cut at ${count}`)
          const aborted = log.flatMap((one) => (one.msg.type === "turn_aborted" ? [one.id] : []))
          assert.include(aborted, "b")
          // A turn that has started ends with its process, as without a revert.
          if (count >= recorded("c")) assert.isTrue(isLeft("c") || aborted.includes("c"))
        }
      }),
  )
})
