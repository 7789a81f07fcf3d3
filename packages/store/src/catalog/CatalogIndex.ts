/**
 * The index that a catalog uses. A damaged index is reset; one that fails otherwise, or that stays
 * damaged, is replaced by one in memory. Both lose the contents, and whoever derived something from
 * the earlier contents must begin anew: `generation` says when. No operation fails because of the
 * index.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as MemoryIndex from "../MemoryIndex.ts"
import type { IndexFault, RolloutIndex } from "../RolloutIndex.ts"

/** After this many resets an index that is still damaged is replaced by one in memory. */
const maxResets = 2

/** The contents of the index were lost since the work began; the work must begin anew. */
export class IndexReplaced extends Data.TaggedError("IndexReplaced") {}

/** An operation on the index. */
export type IndexOperation<A> = (index: RolloutIndex["Service"]) => Effect.Effect<A, IndexFault>

/** See the header. */
export class CatalogIndex {
  private index: RolloutIndex["Service"]
  private lost = 0
  private resets = 0
  private readonly permit = Semaphore.makeUnsafe(1)

  constructor(index: RolloutIndex["Service"]) {
    this.index = index
  }

  /** Changes when the contents of the index are lost. */
  get generation(): number {
    return this.lost
  }

  /**
   * Runs an operation, and runs it again on the empty index when the index fails. Only for operations
   * whose result is not taken for complete, or whose caller compares `generation` afterwards.
   */
  use<A>(operation: IndexOperation<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      const { generation, index } = this
      return Effect.catch(operation(index), (fault) =>
        Effect.andThen(this.replace(generation, fault), this.use(operation)),
      )
    })
  }

  /**
   * Runs an operation on the contents of a generation. Fails, and does not run it again, when they
   * are lost: a record that a folder was read must not get into an index without its rows.
   */
  within<A>(generation: number, operation: IndexOperation<A>): Effect.Effect<A, IndexReplaced> {
    return Effect.suspend(() =>
      generation === this.generation
        ? Effect.catch(operation(this.index), (fault) =>
            Effect.andThen(this.replace(generation, fault), Effect.fail(new IndexReplaced())),
          )
        : Effect.fail(new IndexReplaced()),
    )
  }

  /** Replaces the contents of a generation, unless that has been done since. */
  private replace(generation: number, fault: IndexFault): Effect.Effect<void> {
    const work = Effect.suspend(() => {
      if (generation !== this.generation) return Effect.void
      this.lost++
      return fault.damaged && this.resets++ < maxResets ? this.reset(fault) : this.abandon(fault)
    })
    return Effect.uninterruptible(this.permit.withPermit(work))
  }

  private reset(fault: IndexFault): Effect.Effect<void> {
    return Effect.logWarning(`rebuilding the index of conversations: ${fault.message}`).pipe(
      Effect.andThen(Effect.suspend(() => this.index.reset)),
      // Again: an operation that began meanwhile used what the reset removed.
      Effect.tap(() => Effect.sync(() => this.lost++)),
      Effect.catch((again) => this.abandon(again)),
    )
  }

  private abandon(fault: IndexFault): Effect.Effect<void> {
    this.index = MemoryIndex.make()
    this.lost++
    return Effect.logWarning(
      `the index of conversations cannot be used; this process keeps one in memory: ${fault.message}`,
    )
  }
}
