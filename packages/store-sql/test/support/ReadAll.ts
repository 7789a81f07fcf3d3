import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"

/** All records of a conversation, read in pages. */
export const readAll = Effect.fnUntraced(function* (id: ConversationId, max = 100) {
  const store = yield* ConversationStore
  const records: Array<LogRecord> = []
  let from = 0
  for (;;) {
    const page = yield* store.read(id, { from, max })
    records.push(...page.records)
    if (page.next === undefined) return records
    from = page.next
  }
})
