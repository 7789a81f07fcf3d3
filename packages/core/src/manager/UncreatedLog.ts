/**
 * The writer of a log that does not exist yet: the first append creates it, with the records of that append. So the
 * beginning of a conversation and its first submission are one batch with one sync (L10). Never creates the log twice: a
 * writer is not used again after a failure.
 */
import type { ConversationStore, Durability, LogWriter } from "../ConversationStore.ts"
import type { LogRecord } from "../LogRecord.ts"
import * as Effect from "effect/Effect"
import type { AppendError, StoreError } from "../StoreErrors.ts"

/** As `ConversationStore.create`, for one conversation and with its lease held until the scope of that conversation closes. */
type CreateLog = (
  records: Parameters<ConversationStore["Service"]["create"]>[1],
) => Effect.Effect<LogWriter, StoreError>

/** Generation of the writer that creates a log. */
const firstGeneration = 1

/** What creates the log, and what runs when it is on disk. */
interface Beginning {
  readonly create: CreateLog
  readonly onCreated: Effect.Effect<void>
}

/** The writer of one log. */
export class UncreatedLog implements LogWriter {
  /** Replaced by the writer, because the beginning keeps the first records alive. */
  private log: LogWriter | Beginning
  private notifyLost: (() => void) | undefined

  /** @param onCreated runs once, when the log is on disk; the first append resolves after it */
  constructor(create: CreateLog, onCreated: Effect.Effect<void>) {
    this.log = { create, onCreated }
  }

  get generation(): number {
    return "create" in this.log ? firstGeneration : this.log.generation
  }

  append(
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ): Effect.Effect<void, AppendError> {
    const { log } = this
    return "create" in log
      ? Effect.flatMap(log.create(records), (writer) => {
          this.log = writer
          if (this.notifyLost !== undefined) writer.onLost?.(this.notifyLost)
          return log.onCreated
        })
      : log.append(records, durability)
  }

  /** A log that does not exist has no lease to lose. */
  onLost(notify: () => void): void {
    this.notifyLost = notify
    if (!("create" in this.log)) this.log.onLost?.(notify)
  }
}
