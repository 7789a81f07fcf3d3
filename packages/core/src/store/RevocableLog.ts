/** The writer of a loaded conversation, which the process may give up before another one takes the lease. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Durability, LogWriter } from "../ConversationStore.ts"
import type { LogRecord } from "../LogRecord.ts"
import { type AppendError, LeaseLost } from "../StoreErrors.ts"

/** Appends to the log until it is revoked; then every append fails with `LeaseLost`, as that of a stale writer (L16). */
export class RevocableLog implements LogWriter {
  private readonly id: ConversationId
  private readonly writer: LogWriter
  private isRevoked = false

  constructor(id: ConversationId, writer: LogWriter) {
    this.id = id
    this.writer = writer
  }

  get generation(): number {
    return this.writer.generation
  }

  append(
    records: ReadonlyArray<LogRecord>,
    durability: Durability,
  ): Effect.Effect<void, AppendError> {
    return this.isRevoked
      ? Effect.fail(new LeaseLost({ id: this.id, generation: this.generation }))
      : this.writer.append(records, durability)
  }

  /** Appends nothing any more. An append that runs ends by itself. */
  revoke(): void {
    this.isRevoked = true
  }
}
