/**
 * Calls that a node carries out late: the node that sent them had given up by then, and carried them out itself. Whatever
 * was acknowledged since stays.
 */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { NodeUnreachable } from "../src/NodeErrors.ts"
import { collected, elapse, says, settings, typesOf, world } from "./support/TwoNodes.ts"

/** Two nodes; the first call of `operation` from `b` to `a` arrives when `late` runs, as with a node that was stopped. */
const stoppedNode = Effect.fnUntraced(function* (
  operation: string,
  options: { readonly seconds?: number; readonly isLost?: "response" } = {},
) {
  let late: Effect.Effect<unknown, unknown> | undefined
  const { isLost, ...rest } = options
  const { join, nodes } = world({
    ...rest,
    onWay: (called, id, arrive) => {
      if (called !== operation || late !== undefined) return arrive
      late = arrive
      const lost = Effect.suspend(() => {
        nodes.assign(id, "b")
        return Effect.fail(new NodeUnreachable({ id, reason: "no sign of life" }))
      })
      return isLost === undefined ? lost : Effect.andThen(arrive, lost)
    },
  })
  const a = yield* join("a")
  const b = yield* join("b")
  const { id } = yield* a.manager.create(settings)
  const arrives = Effect.gen(function* () {
    nodes.assign(id, "a")
    // By then `b` has noticed that it has a conversation of `a`.
    yield* Effect.sleep("1 second")
    yield* Effect.exit(late ?? Effect.die("there was no call"))
  })
  return { a, b, id, arrives, close: Effect.all([a.close, b.close]) }
})

/** Runs `effect` while the clock advances, so that its waits end. */
const during = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* elapse(5)
    return yield* Fiber.join(fiber)
  })

const listed = (manager: ConversationManager["Service"], archived: boolean) =>
  Effect.map(manager.list({ archived }), ({ items }) => items.map(({ id }) => id))

describe("a call that another node carries out late", () => {
  it.effect("L10 archives nothing that was unarchived since", () =>
    Effect.gen(function* () {
      const { arrives, b, close, id } = yield* stoppedNode("Archive")
      yield* during(b.manager.archive(id))
      assert.deepStrictEqual(yield* listed(b.manager, true), [id])
      yield* during(b.manager.unarchive(id))
      yield* during(arrives)
      assert.deepStrictEqual(yield* listed(b.manager, false), [id])
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect("L10 ends no turn of a conversation that was unarchived since", () =>
    Effect.gen(function* () {
      const { arrives, b, close, id } = yield* stoppedNode("Archive", { seconds: 8 })
      yield* during(b.manager.archive(id))
      yield* during(b.manager.unarchive(id))
      const conversation = yield* during(b.manager.get(id))
      yield* conversation.submit(says("still here?"))
      const all = yield* collected(yield* conversation.attach({ from: 0 }))
      yield* during(arrives)
      yield* elapse(5)
      assert.strictEqual(typesOf(all).filter((type) => type === "task_complete").length, 1)
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect("L10 unarchives nothing that was archived since", () =>
    Effect.gen(function* () {
      const { a, arrives, b, close, id } = yield* stoppedNode("Unarchive")
      yield* during(a.manager.archive(id))
      yield* during(b.manager.unarchive(id))
      yield* during(b.manager.archive(id))
      yield* during(arrives)
      assert.deepStrictEqual(yield* listed(b.manager, true), [id])
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect("L10 removes nothing that was used since", () =>
    Effect.gen(function* () {
      const { arrives, b, close, id } = yield* stoppedNode("Remove")
      // The client gives up before its node does.
      const removing = yield* Effect.forkChild(b.manager.remove(id), { startImmediately: true })
      yield* Fiber.interrupt(removing)
      const conversation = yield* during(b.manager.get(id))
      yield* during(conversation.submit(says("still here?")))
      const events = yield* b.manager.history(id)
      yield* during(arrives)
      assert.strictEqual((yield* b.manager.history(id)).length, events.length)
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect("L1 a removal whose response was lost succeeds", () =>
    Effect.gen(function* () {
      const { b, close, id } = yield* stoppedNode("Remove", { isLost: "response" })
      yield* during(b.manager.remove(id))
      assert.deepStrictEqual(yield* listed(b.manager, false), [])
      assert.strictEqual((yield* Effect.flip(b.manager.remove(id)))._tag, "NoSuchConversation")
      yield* close
    }).pipe(Effect.scoped),
  )

  for (const operation of ["Archive", "Remove"] as const) {
    it.effect(`L10 ${operation} takes effect late where nothing was done since`, () =>
      Effect.gen(function* () {
        const { arrives, b, close, id } = yield* stoppedNode(operation)
        const call = operation === "Archive" ? b.manager.archive(id) : b.manager.remove(id)
        yield* Fiber.interrupt(yield* Effect.forkChild(call, { startImmediately: true }))
        yield* during(arrives)
        assert.deepStrictEqual(yield* listed(b.manager, false), [])
        yield* close
      }).pipe(Effect.scoped),
    )
  }
})
