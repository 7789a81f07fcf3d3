/** A node of Effect Cluster that has left it, in memory. */
import { assert, describe, it } from "@effect/vitest"
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestRunner from "effect/cluster/TestRunner"
import * as EntityNodes from "../src/EntityNodes.ts"
import { DirectCalls } from "../src/internal/DirectCalls.ts"
import { NodeUnreachable } from "../src/NodeErrors.ts"
import { Nodes } from "../src/Nodes.ts"

const parsed = parseConversationId("01990000-0000-7000-8000-000000000001")

const connected = Layer.succeed(DirectCalls, {
  serve: () => {},
  at: () => Effect.die("there is no other node"),
  disconnect: () => Effect.void,
})

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
    }).pipe(Effect.provide(EntityNodes.layer("a", Layer.merge(TestRunner.layer, connected)))),
  )
})
