/** The port `Leases` for processes that start and end when a test says so. */
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FileFault } from "../../src/Files.ts"
import { Leases } from "../../src/Leases.ts"

/** The leases of a machine. */
export class MemoryLeases {
  private readonly owners = new Map<ConversationId, object>()
  private readonly generations = new Map<ConversationId, number>()
  /** Leases whose owner has ended. */
  private readonly orphans = new Set<ConversationId>()

  /** Fault with which every check of a lease fails. */
  fault: FileFault | undefined

  /** The leases of one process. */
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

  /** Ends every process that holds a lease. */
  killAll(): void {
    for (const id of this.owners.keys()) this.orphans.add(id)
    this.owners.clear()
  }

  /** Gives a lease to another process without the holder's knowledge. */
  steal(id: ConversationId): void {
    this.owners.set(id, {})
  }
}
