/** The writer of a loaded conversation, which the process may give up, or whose lease it may lose, before its next append. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Durability, LogWriter } from "../ConversationStore.ts"
import type { LogRecord } from "../LogRecord.ts"
import { type AppendError, LeaseLost } from "../StoreErrors.ts"

/** Appends to the log until it is revoked; then every append fails with `LeaseLost`, as that of a stale writer (L16). */
export class RevocableLog implements LogWriter {
  private readonly id: ConversationId
  private readonly writer: LogWriter
  private revoked = false

  constructor(id: ConversationId, writer: LogWriter) {
    this.id = id
    this.writer = writer
  }

  get generation(): number {
    return this.writer.generation
  }

  get isRevoked(): boolean {
    return this.revoked
  }

  append(
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ): Effect.Effect<void, AppendError> {
    return this.revoked
      ? Effect.fail(new LeaseLost({ id: this.id, generation: this.generation }))
      : this.writer.append(records, durability)
  }

  /** Appends nothing any more. An append that runs ends by itself. */
  revoke(): void {
    this.revoked = true
  }
}

/**
 * Logs that nothing of a conversation can be recorded any more: an error, unless this process has given it up itself or the
 * store has reported that its leases are lost.
 */
export const logLoss = (id: ConversationId, writer: LogWriter, because: AppendError) =>
  writer.isRevoked === true
    ? Effect.logDebug(`conversation ${id} is given up`)
    : Effect.logError(`conversation ${id} is unloaded: nothing can be recorded`, because)
