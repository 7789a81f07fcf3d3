/** Conversations and records to store in tests. */
import type { ConversationMeta } from "@colloquy/core/ConversationStore"
import { eventRecord, type LogRecord } from "@colloquy/core/LogRecord"
import { ConversationId, uuidV7 } from "@colloquy/protocol/Ids"

const startMs = 1_758_355_872_345

export const metaOf = (number: number, more: Partial<ConversationMeta> = {}): ConversationMeta => ({
  id: ConversationId.make(uuidV7(startMs, [1, 2, 3, number])),
  createdAtMs: startMs + number,
  cwd: "/w",
  originator: "colloquy",
  version: "0.1.0",
  provider: "offline",
  model: "offline",
  ...more,
})

/** The first event of a conversation. */
export const firstRecords = (meta: ConversationMeta): ReadonlyArray<LogRecord> => [
  eventRecord(startMs, {
    seq: 0,
    id: "",
    msg: {
      type: "session_configured",
      session_id: meta.id,
      model: "offline",
      history_log_id: 0,
      history_entry_count: 0,
    },
  }),
]

/** Events numbered from `from` up to and without `to`. */
export const messages = (
  from: number,
  to: number,
  more: { readonly atMs?: number; readonly text?: string } = {},
): ReadonlyArray<LogRecord> =>
  Array.from({ length: to - from }, (_, i) =>
    eventRecord(more.atMs ?? startMs + from + i, {
      seq: from + i,
      id: "turn",
      msg: { type: "agent_message", message: `${more.text ?? "words"} ${from + i}` },
    }),
  )
