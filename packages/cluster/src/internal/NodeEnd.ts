/**
 * The end of a node: it leaves the cluster, gives its conversations up or lets their turns end, and closes its manager. The
 * node can be called until that is done, so that other nodes get the last events of ephemeral conversations (L5).
 */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Nodes } from "../Nodes.ts"
import type { EphemeralCalls } from "./EphemeralCalls.ts"
import type { HandOver } from "./HandOver.ts"

/** What ends. */
interface EndingParts {
  readonly nodes: Nodes["Service"]
  readonly handOver: HandOver
  /** The manager of this process. */
  readonly local: Pick<ConversationManager["Service"], "shutdown">
  readonly calls: EphemeralCalls
}

/** How far the end of a node has come. */
export class NodeEnd {
  private readonly closing = Deferred.makeUnsafe<void>()
  private left = false

  /** True once the node has left the cluster, and calls no other one any more. */
  get hasLeft(): boolean {
    return this.left
  }

  /** True from when the manager of this process closes. */
  get isClosed(): boolean {
    return Deferred.isDoneUnsafe(this.closing)
  }

  /** Resolves when the manager of this process closes. */
  get closed(): Effect.Effect<void> {
    return Deferred.await(this.closing)
  }

  /** Ends the node. Resolves when nothing of it runs any more. */
  run({ calls, handOver, local, nodes }: EndingParts): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* this.leave(nodes, handOver)
      Deferred.doneUnsafe(this.closing, Effect.void)
      yield* local.shutdown
      yield* calls.ended
    })
  }

  /** Leaves the cluster. Resolves when this node has no conversation of another one, and no turn runs here. */
  private leave(nodes: Nodes["Service"], handOver: HandOver): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      // At once: other nodes ask for the conversations before this one has left the cluster in every respect.
      const leaving = yield* Effect.forkChild(nodes.leave, { startImmediately: true })
      // It knows now which conversations it still has.
      yield* handOver.step
      this.left = true
      yield* handOver.drained
      yield* Fiber.join(leaving)
    })
  }
}
