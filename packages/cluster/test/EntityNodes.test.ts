/** A node of Effect Cluster that has left it, in memory. */
import { assert, describe, it } from "@effect/vitest"
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestRunner from "effect/cluster/TestRunner"
import * as EntityNodes from "../src/EntityNodes.ts"
import { DirectCalls } from "../src/internal/DirectCalls.ts"
import * as Membership from "../src/internal/Membership.ts"
import { NodeUnreachable } from "../src/NodeErrors.ts"
import { Nodes } from "../src/Nodes.ts"

const parsed = parseConversationId("01990000-0000-7000-8000-000000000001")

/** Notes the end of the layer of the calls. */
const ending = (onEnd: () => void) =>
  Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(onEnd)))

const connected = Layer.succeed(DirectCalls, {
  serve: () => {},
  at: () => Effect.die("there is no other node"),
  disconnect: () => Effect.void,
})

/** A node, whose direct calls end as noted. */
const nodeOf = (onEnd: () => void) =>
  EntityNodes.layer("a", Layer.mergeAll(Membership.of(TestRunner.layer), connected, ending(onEnd)))

describe("a node that has left its cluster", () => {
  it.effect("owns nothing, and says so to every call", () =>
    Effect.gen(function* () {
      assert.isTrue("id" in parsed)
      if (!("id" in parsed)) return
      const { id } = parsed
      const nodes = yield* Nodes
      yield* nodes.leave
      assert.isFalse(nodes.owns(id))
      const { Attach, Load } = nodes.calls(id)
      const failures = [
        yield* Effect.flip(Load({ id })),
        yield* Effect.flip(Stream.runDrain(Attach({ id }))),
      ]
      for (const failure of failures) assert.instanceOf(failure, NodeUnreachable)
    }).pipe(Effect.provide(nodeOf(() => {}))),
  )

  it.effect("L5 carries out the calls of other nodes until it is closed", () => {
    const ends: Array<string> = []
    return Effect.gen(function* () {
      const nodes = yield* Nodes
      yield* nodes.leave
      assert.deepStrictEqual(ends, [])
    }).pipe(
      Effect.provide(nodeOf(() => void ends.push("calls"))),
      Effect.andThen(Effect.sync(() => assert.deepStrictEqual(ends, ["calls"]))),
    )
  })
})
