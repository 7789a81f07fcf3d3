/**
 * Which change of what a thread waits for was announced last, by any process: each is announced once, whichever processes
 * have subscribers of the thread. Knows the threads that changed last, up to a number of them.
 */
import { LruMap } from "../../internal/LruMap.ts"

/** See the header. */
export class AnnouncedStatuses {
  /** Numbers of the events whose changes were announced last; of threads that have ended, more than any. */
  private readonly last: LruMap<string, number>

  constructor(maxThreads: number) {
    this.last = new LruMap(maxThreads)
  }

  /** True once for each change that is later than those before, until the thread has ended. */
  isNext(threadId: string, seq: number): boolean {
    const last = this.last.get(threadId)
    if (last !== undefined && seq <= last) return false
    this.last.put(threadId, seq)
    return true
  }

  /** The thread was archived or deleted: changes of its last events may still arrive from other processes. */
  end(threadId: string): void {
    this.last.put(threadId, Number.POSITIVE_INFINITY)
  }

  /** The thread can be used, again if it had ended. */
  begin(threadId: string): void {
    if (this.last.get(threadId) === Number.POSITIVE_INFINITY) this.last.take(threadId)
  }
}
