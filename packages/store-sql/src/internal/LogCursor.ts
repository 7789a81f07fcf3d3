/** Reads the records of a log in batches of any size, whatever the pages of its store are. */
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { ConversationStore, Position, RecordPage } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"

/** A place in a log that moves forward. */
export class LogCursor {
  private readonly store: ConversationStore["Service"]
  private readonly id: ConversationId
  /** Undefined behind the last page. */
  private next: Position | undefined = 0
  private rest: ReadonlyArray<LogRecord> = []

  constructor(store: ConversationStore["Service"], id: ConversationId) {
    this.store = store
    this.id = id
  }

  /** The next records: `max`, or fewer at the end of the log. */
  take(max: number): Effect.Effect<ReadonlyArray<LogRecord>, StoreError | NoSuchConversation> {
    return Effect.gen({ self: this }, function* () {
      while (this.rest.length < max && this.next !== undefined) {
        const page: RecordPage = yield* this.store.read(this.id, { from: this.next, max })
        this.rest = [...this.rest, ...page.records]
        this.next = page.next
      }
      const taken = this.rest.slice(0, max)
      this.rest = this.rest.slice(max)
      return taken
    })
  }
}
