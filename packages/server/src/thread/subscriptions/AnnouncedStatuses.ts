/**
 * Which change of what a thread waits for was announced last, by any process: each is announced once, whichever processes
 * have subscribers of the thread. Knows the threads that changed last, up to a number of them.
 */
import { LruMap } from "../../internal/LruMap.ts"

interface Announced {
  /** Number of the event whose change was announced last; -1 for none. */
  readonly seq: number
  readonly hasEnded: boolean
}

const none: Announced = { seq: -1, hasEnded: false }

/** See the header. */
export class AnnouncedStatuses {
  private readonly last: LruMap<string, Announced>

  constructor(maxThreads: number) {
    this.last = new LruMap(maxThreads)
  }

  private of(threadId: string): Announced {
    return this.last.get(threadId) ?? none
  }

  /** True once for each change that is later than those before, until the thread has ended. */
  isNext(threadId: string, seq: number): boolean {
    const last = this.of(threadId)
    if (last.hasEnded || seq <= last.seq) return false
    this.last.put(threadId, { seq, hasEnded: false })
    return true
  }

  /** Whether the thread was archived or deleted. */
  hasEnded(threadId: string): boolean {
    return this.of(threadId).hasEnded
  }

  /** The thread was archived or deleted: changes of its last events may still arrive from other processes. */
  end(threadId: string): void {
    this.last.put(threadId, { ...this.of(threadId), hasEnded: true })
  }

  /** The thread can be used, again if it had ended. */
  begin(threadId: string): void {
    const last = this.of(threadId)
    if (last.hasEnded) this.last.put(threadId, { ...last, hasEnded: false })
  }
}
