/**
 * `QuotaPlaces` of several processes in one, for tests and simulations: who has which place is known at once. Can be cut off,
 * as by a database that cannot be reached.
 */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { Place, QuotaPlaces } from "@colloquy/core/QuotaPlaces"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** More conversations than the owner of a test has. */
const limit = 10_000

const keyOf = ({ id, kind, owner }: Place): string => `${kind} ${id} ${owner}`

/** The places of all processes. */
export class MemoryPlaces {
  private readonly store: Pick<ConversationStore["Service"], "list">
  /** By process, and by key. */
  private readonly taken = new Map<string, Map<string, Place>>()
  private isCut = false
  private readonly taking = Semaphore.makeUnsafe(1)

  /** @param store whose conversations count as well */
  constructor(store: Pick<ConversationStore["Service"], "list">) {
    this.store = store
  }

  /** The port as one process has it. */
  of(process: string): QuotaPlaces {
    const own = () => {
      const places = this.taken.get(process) ?? new Map<string, Place>()
      this.taken.set(process, places)
      return places
    }
    const keep = (place: Place) => void own().set(keyOf(place), place)
    return {
      take: (place, max) =>
        Effect.suspend(() =>
          this.isCut
            ? Effect.fail(unreachable)
            : this.taking.withPermit(
                Effect.map(this.count(place), (count) => {
                  if (count < max) keep(place)
                  return count < max
                }),
              ),
        ),
      keep: (place) => Effect.sync(() => keep(place)),
      release: (place) => Effect.sync(() => void own().delete(keyOf(place))),
    }
  }

  /** The process has ended: it has no places any more. */
  end(process: string): void {
    this.taken.delete(process)
  }

  /** No place can be taken, until `heal`. */
  cut(): void {
    this.isCut = true
  }

  /** Places can be taken again. */
  heal(): void {
    this.isCut = false
  }

  /** Number of the places that the owner of this one has besides it. */
  count({ id, kind, owner }: Place): Effect.Effect<number, StoreError> {
    return Effect.map(
      kind === "conversation" ? this.stored(owner) : Effect.succeed([]),
      (stored) => {
        const ids = new Set<string>(stored)
        for (const places of this.taken.values()) {
          for (const place of places.values()) {
            if (place.kind === kind && place.owner === owner) ids.add(place.id)
          }
        }
        ids.delete(id)
        return ids.size
      },
    )
  }

  private stored(owner: string): Effect.Effect<ReadonlyArray<string>, StoreError> {
    return Effect.map(this.store.list({ owner, archived: false, limit }), ({ items }) =>
      items.map(({ meta }) => meta.id),
    )
  }
}

const unreachable = new StoreError({
  operation: "append",
  reason: "Unreachable",
  message: "the database cannot be reached",
})
