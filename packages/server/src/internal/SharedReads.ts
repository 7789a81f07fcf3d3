/**
 * Reads that concurrent callers share: one read of a key at a time, and one more for all who ask meanwhile. What a
 * caller gets was read after it asked, so it is never stale. Keeps nothing of a read that has ended.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/** See the header. */
export class SharedReads<A, E> {
  /** The reads that have begun, by key. */
  private readonly running = new Map<string, Deferred.Deferred<A, E>>()
  /** The reads that begin once the running one has ended. */
  private readonly waiting = new Map<string, Deferred.Deferred<A, E>>()

  /** Number of reads that have not ended. */
  get size(): number {
    return this.running.size + this.waiting.size
  }

  /**
   * The result of a read that begins after this call. The read goes on where its callers are interrupted.
   *
   * @param key callers with the same key share a read
   */
  read<R>(key: string, read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const joined = this.waiting.get(key)
      if (joined !== undefined) return Deferred.await(joined)
      const result = Deferred.makeUnsafe<A, E>()
      this.waiting.set(key, result)
      return Effect.andThen(
        Effect.forkDetach(this.lead(key, read, result), {
          startImmediately: true,
          uninterruptible: true,
        }),
        Effect.interruptible(Deferred.await(result)),
      )
    })
  }

  private lead<R>(
    key: string,
    read: Effect.Effect<A, E, R>,
    result: Deferred.Deferred<A, E>,
  ): Effect.Effect<void, never, R> {
    const before = this.running.get(key)
    return Effect.gen({ self: this }, function* () {
      if (before !== undefined) yield* Effect.exit(Deferred.await(before))
      this.waiting.delete(key)
      this.running.set(key, result)
      const exit = yield* Effect.exit(read)
      this.running.delete(key)
      yield* Deferred.done(result, exit)
    })
  }
}
