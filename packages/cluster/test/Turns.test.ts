/** Turns whose end is waited for, wherever the conversation is. */
import { withoutIds } from "@colloquy/core/decider/Receipts"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { NodeUnreachable } from "../src/NodeErrors.ts"
import { elapse, type OnWay, says, settings, world } from "./support/TwoNodes.ts"

/** Two nodes, and a conversation of the first one as the second one refers to it. */
const onTwoNodes = Effect.fnUntraced(function* (options: Parameters<typeof world>[0] = {}) {
  const { join, nodes } = world(options)
  const a = yield* join("a")
  const b = yield* join("b")
  const { id } = yield* a.manager.create(settings)
  const there = yield* b.manager.refer(id)
  const close = Effect.all([a.close, b.close])
  return { a, b, id, nodes, there, close }
})

const started = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.forkChild(effect, { startImmediately: true })

/** The response to the first call of a turn is lost: the call has been carried out, or is not carried out any more. */
const losing = (isCarriedOut: boolean): OnWay => {
  let isLost = true
  return (operation, id, arrive) => {
    if (operation !== "RunTurn" || !isLost) return arrive
    isLost = false
    const lost = new NodeUnreachable({ id, reason: "the response was lost" })
    return isCarriedOut ? Effect.andThen(arrive, lost) : lost
  }
}

const completed = { type: "task_complete", last_agent_message: "done" } as const

describe("a turn through another node", () => {
  it.effect("is one call", () => {
    const calls: Array<string> = []
    return Effect.gen(function* () {
      const { close, there } = yield* onTwoNodes({ onCall: (call) => calls.push(call) })
      const turn = yield* started(there.runTurn(says("hi")))
      yield* elapse(1)
      const { end, receipt } = yield* Fiber.join(turn)
      assert.deepStrictEqual(end?.msg, completed)
      assert.strictEqual(receipt.disposition, "started")
      assert.deepStrictEqual(calls, ["RunTurn"])
      yield* close
    }).pipe(Effect.scoped)
  })

  it.effect("L1 is not found where the conversation does not exist, or belongs to others", () =>
    Effect.gen(function* () {
      const { b, close, id } = yield* onTwoNodes()
      for (const [name, owner] of [
        ["01999999-9999-7999-8999-999999999999", null],
        [id, "bob"],
      ] as const) {
        const referred = yield* b.manager.refer(name, { owner })
        const error = yield* Effect.flip(referred.runTurn(says("hi")))
        assert.deepStrictEqual(
          [error._tag, "id" in error && error.id],
          ["NoSuchConversation", name],
        )
      }
      assert.strictEqual((yield* Effect.flip(b.manager.refer("no id")))._tag, "NoSuchConversation")
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect("L5 ends with the turn where the conversation moves meanwhile", () =>
    Effect.gen(function* () {
      const { a, close, id, nodes, there } = yield* onTwoNodes({
        seconds: 100,
        drainWithin: "5 seconds",
      })
      const here = yield* a.manager.refer(id)
      const turns = yield* Effect.forEach([there, here], (one) =>
        started(one.runTurn(says("long"))),
      )
      yield* elapse(1)
      nodes.assign(id, "b")
      yield* elapse(10)
      for (const turn of turns) {
        assert.strictEqual((yield* Fiber.join(turn)).end?.msg.type, "turn_aborted")
      }
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect("L5 ends with the turn where its node is killed after a long time", () =>
    Effect.gen(function* () {
      const { close, id, nodes, there } = yield* onTwoNodes({ seconds: 1000 })
      const turn = yield* started(there.runTurn(says("long")))
      yield* elapse(100)
      nodes.assign(id, "b")
      yield* nodes.kill("a")
      yield* elapse(60)
      assert.strictEqual((yield* Fiber.join(turn)).end?.msg.type, "turn_aborted")
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect(
    "L5 ends with the turn after several moves, each of which may take as long as it may",
    () =>
      Effect.gen(function* () {
        const { join, nodes } = world({ seconds: 1000, drainWithin: "2 seconds" })
        const asked = yield* join("asked")
        const others = yield* Effect.forEach(["a", "b", "c"], join)
        const [first] = others
        if (first === undefined) return
        const { id } = yield* first.manager.create(settings)
        const turn = yield* started(
          Effect.flatMap(asked.manager.refer(id), (one) => one.runTurn(says("long"), { id: "t" })),
        )
        yield* elapse(20)
        // For so long no call arrives where the conversation is.
        for (const name of ["a", "b"]) nodes.cut("asked", name)
        nodes.assign(id, "b")
        yield* elapse(20)
        nodes.heal()
        yield* elapse(10)
        assert.strictEqual((yield* Fiber.join(turn)).end?.msg.type, "turn_aborted")
        const again = yield* Effect.flatMap(asked.manager.refer(id), (one) =>
          one.runTurn(says("long"), { id: "t" }),
        )
        assert.strictEqual(again.end?.msg.type, "turn_aborted")
        yield* asked.close
        yield* Effect.forEach(others, ({ close }) => close)
      }).pipe(Effect.scoped),
  )

  it.effect(
    "L10 says that its node does not respond where its own node closes before a receipt arrives",
    () => {
      const submits: Array<string> = []
      const onWay: OnWay = (operation, id, arrive) => {
        if (!operation.startsWith("Submit")) return arrive
        submits.push(operation)
        return new NodeUnreachable({ id, reason: "the request was lost" })
      }
      return Effect.gen(function* () {
        const { a, b, id, nodes, there } = yield* onTwoNodes({ onWay })
        nodes.assign(id, "b")
        const turn = yield* started(Effect.flip(there.runTurn(says("hi"))))
        // The other node still has the conversation, and owns it again before this one could attach.
        nodes.assign(id, "a")
        yield* elapse(1)
        assert.isNotEmpty(submits)
        yield* b.close
        yield* elapse(1)
        const { message } = yield* Fiber.join(turn)
        assert.include(message, "does not respond: the request was lost")
        yield* a.close
      }).pipe(Effect.scoped)
    },
  )

  for (const [name, isCarriedOut] of [
    ["has been carried out", true],
    ["has not arrived", false],
  ] as const) {
    it.effect(`L10 is carried out once where a call ${name} and its response is lost`, () => {
      const calls: Array<string> = []
      return Effect.gen(function* () {
        const onCall = (call: string) => calls.push(call)
        const { a, close, id, there } = yield* onTwoNodes({ onWay: losing(isCarriedOut), onCall })
        const turn = yield* started(there.runTurn(says("hi")))
        yield* elapse(2)
        assert.deepStrictEqual((yield* Fiber.join(turn)).end?.msg, completed)
        assert.deepStrictEqual(calls, ["RunTurn", "SubmitStored", "RunTurn"])
        const events = yield* a.manager.history(id)
        assert.lengthOf(
          events.filter(({ event }) => event.msg.type === "task_complete"),
          1,
        )
        yield* close
      }).pipe(Effect.scoped)
    })

    it.effect(`L10 is carried out once by the next owner, this node, where a call ${name}`, () =>
      Effect.gen(function* () {
        const { b, close, id, nodes, there } = yield* onTwoNodes({ onWay: losing(isCarriedOut) })
        const turn = yield* started(there.runTurn(says("hi")))
        nodes.assign(id, "b")
        yield* elapse(5)
        assert.deepStrictEqual((yield* Fiber.join(turn)).end?.msg, completed)
        const events = yield* b.manager.history(id)
        assert.lengthOf(
          events.filter(({ event }) => event.msg.type === "task_complete"),
          1,
        )
        yield* close
      }).pipe(Effect.scoped),
    )
  }
})

/** Length of the state that a node sends of a conversation after so many submissions. */
const lengthOfState = Effect.fnUntraced(function* (submissions: number) {
  const lengths: Array<number> = []
  const onWay: OnWay = (operation, _, arrive) =>
    operation === "ReadState"
      ? Effect.tap(arrive, (sent) => Effect.sync(() => lengths.push(JSON.stringify(sent).length)))
      : arrive
  const { a, close, id, there } = yield* onTwoNodes({ onWay })
  const here = yield* a.manager.get(id)
  for (let i = 100; i < 100 + submissions; i++) {
    yield* here.submit({ type: "user_input", items: [] }, { id: `submission-${i}` })
  }
  assert.deepStrictEqual((yield* there.state).receipts, withoutIds((yield* here.state).receipts))
  yield* close
  return lengths
}, Effect.scoped)

describe("the state of a conversation of another node", () => {
  it.effect("is sent without the ids of its submissions", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* lengthOfState(100), yield* lengthOfState(1))
    }),
  )
})
