/** The file `history.jsonl`, which other programs also write: from its bytes to entries. */
import { HistoryFile, MessageHistory } from "@colloquy/store/MessageHistory"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { encode } from "../Bytes.ts"
import { type Edge, Violation } from "../Edge.ts"
import { mutateJoined } from "./Pure.ts"

const corpus = [
  encode(
    [
      '{"session_id":"s","ts":1758355872,"text":"hello"}',
      '{"session_id":"s","ts":2,"text":"é"}',
      "",
    ].join("\n"),
  ),
]

const fileOf = (data: Uint8Array) =>
  Layer.succeed(HistoryFile, {
    append: () => Effect.succeed(true),
    open: Effect.succeed({
      logId: 1,
      bytes: data.length,
      read: (offset: number, length: number) => Effect.succeed(data.slice(offset, offset + length)),
    }),
  })

/** Most lookups of an input; each one reads the file from its beginning. */
const maxLookups = 16

const run = (input: Uint8Array) =>
  Effect.gen(function* () {
    const history = yield* MessageHistory
    const { entryCount } = yield* history.metadata
    let found = 0
    for (let line = 0; line < Math.min(entryCount, maxLookups); line++) {
      if ((yield* history.lookup(1, line)) !== undefined) found++
    }
    if ((yield* history.lookup(1, entryCount)) !== undefined) {
      return yield* new Violation({ law: "L13", message: "has an entry after the last one" })
    }
    return found > 0 ? "accepted" : "rejected"
  }).pipe(
    Effect.provide(
      MessageHistory.layer({ persistence: "save-all" }).pipe(Layer.provide(fileOf(input))),
    ),
    Effect.catchTag("HistoryFault", () => Effect.succeed("rejected" as const)),
  )

/** The message history. */
export const histories: Edge = {
  name: "message-history",
  summary: "The message history that other programs share (store/MessageHistory).",
  corpus,
  mutate: mutateJoined("\n", corpus),
  maxInputBytes: 2048,
  open: Effect.succeed({ run }),
}
