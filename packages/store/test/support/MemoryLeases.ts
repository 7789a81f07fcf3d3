/** Leases of processes that live and die when a test says so. */
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FileFault } from "../../src/Files.ts"
import { Leases } from "../../src/Leases.ts"

export class MemoryLeases {
  private readonly owners = new Map<ConversationId, object>()
  private readonly generations = new Map<ConversationId, number>()
  /** Those whose owner is dead. */
  private readonly orphans = new Set<ConversationId>()

  /** Why nobody can find out who holds one. */
  fault: FileFault | undefined

  /** Those of one process. */
  readonly layer = Layer.sync(Leases, () => ({
    take: (id) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          if (this.owners.has(id)) return new LeaseHeld({ id, holder: { pid: 1, host: "here" } })
          const owner = {}
          const inherited = this.orphans.delete(id)
          this.owners.set(id, owner)
          return Effect.succeed({
            owner,
            inherited,
            lastGeneration: this.generations.get(id) ?? 0,
            recordGeneration: (generation: number) =>
              Effect.sync(() => {
                this.generations.set(id, generation)
              }),
            isHeld: Effect.suspend(() =>
              this.fault === undefined
                ? Effect.succeed(this.owners.get(id) === owner)
                : Effect.fail(this.fault),
            ),
          })
        }),
        ({ owner }) =>
          Effect.sync(() => {
            if (this.owners.get(id) === owner) this.owners.delete(id)
          }),
      ),
  }))

  /** Everybody who held one is dead. */
  killAll(): void {
    for (const id of this.owners.keys()) this.orphans.add(id)
    this.owners.clear()
  }

  /** Somebody else has it from now on, whatever its owner thinks. */
  steal(id: ConversationId): void {
    this.owners.set(id, {})
  }
}
