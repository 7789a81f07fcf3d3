/** Which turns of a thread are unread, in the words of this dialect, and the states that lists have read. Knows no store. */
import type { Reading } from "@colloquy/core/log/Reading"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { ReadState } from "@colloquy/protocol/thread/Thread"

/** The state of a thread whose reading is known; before its first answer it is read. */
export const readState = (reading: Reading | undefined): ReadState => ({
  firstUnread:
    reading?.unread === undefined
      ? null
      : reading.unread.turnId === undefined
        ? { type: "threadStart" }
        : { type: "turn", turnId: reading.unread.turnId },
  revision: String(reading?.revision ?? -1),
})

/** The state of a thread, or null before it has one. */
export const knownReadState = (reading: Reading | undefined): ReadState | null =>
  reading === undefined || reading.revision === -1 ? null : readState(reading)

/** A thread of a list. */
export interface ListedThread {
  readonly id: ConversationId
  readonly updatedAtMs: number
}

/** The states of threads that are not in memory, as they were read: by id, with the time of the last change. */
export class ReadStateCache {
  private readonly known = new Map<
    string,
    { readonly atMs: number; readonly state: ReadState | null }
  >()

  get({ id, updatedAtMs }: ListedThread): ReadState | null | undefined {
    const entry = this.known.get(id)
    return entry?.atMs === updatedAtMs ? entry.state : undefined
  }

  put({ id, updatedAtMs }: ListedThread, state: ReadState | null): void {
    this.known.delete(id)
    this.known.set(id, { atMs: updatedAtMs, state })
    const [oldest] = this.known.keys()
    if (this.known.size > maxCached && oldest !== undefined) this.known.delete(oldest)
  }
}

/** Enough for the lists that clients show. */
const maxCached = 1000
