/**
 * What people said in all conversations, in one file (§5.4): `history.jsonl` of the state directory, shared with the original.
 * An entry is one write at the end under a lock; nothing in the file is ever changed. Entries are found by the identity
 * of the file and the number of their line.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { FileFault, FileHandle } from "./Files.ts"
import { LineReader } from "./rollout/LineReader.ts"

/** The file could not be read or written; what stands in it is as it was. */
export class HistoryFault extends Data.TaggedError("HistoryFault")<{
  readonly message: string
}> {}

export interface HistoryLog extends Pick<FileHandle, "read"> {
  /** Tells one file from another: its inode, 0 where the system has none. */
  readonly logId: number
  readonly bytes: number
}

/** Port: the file. `node/NodeHistory.ts` is the real one. */
export class HistoryFile extends Context.Service<
  HistoryFile,
  {
    /**
     * One write at the end, under the lock, of a file that its owner alone may read, made when there is none. False:
     * somebody else has the lock now.
     */
    readonly append: (bytes: Uint8Array) => Effect.Effect<boolean, FileFault>
    /** Undefined when there is none. */
    readonly open: Effect.Effect<HistoryLog | undefined, FileFault, Scope.Scope>
  }
>()("@colloquy/store/HistoryFile") {}

export interface HistoryEntry {
  readonly conversationId: string
  /** Seconds since the epoch. */
  readonly ts: number
  readonly text: string
}

export interface HistoryOptions {
  /** `none`: nothing is written (`history.persistence`). */
  readonly persistence: "save-all" | "none"
}

/** As often as the original tries to get the lock, and as far apart. */
const lockRetries = { times: 9, apart: Duration.millis(100) }

const Line = Schema.Struct({ session_id: Schema.String, ts: Schema.Int, text: Schema.String })
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Line))

class HistoryLocked extends Data.TaggedError("Crowded") {}

const historyFault = (fault: FileFault): HistoryFault =>
  new HistoryFault({ message: `the message history: ${fault.message}` })

export class MessageHistory extends Context.Service<
  MessageHistory,
  {
    /** One entry, behind all others. Waits up to a second for its turn. */
    readonly append: (conversationId: string, text: string) => Effect.Effect<void, HistoryFault>
    /** The entry of line `offset`, from 0, of the file `logId`; undefined when there is none, or the file is another. */
    readonly lookup: (
      logId: number,
      offset: number,
    ) => Effect.Effect<HistoryEntry | undefined, HistoryFault>
    /** Which file it is now, 0 for none, and how many entries it has. */
    readonly metadata: Effect.Effect<
      { readonly logId: number; readonly entryCount: number },
      HistoryFault
    >
  }
>()("@colloquy/store/MessageHistory") {
  static readonly layer = (
    options: HistoryOptions,
  ): Layer.Layer<MessageHistory, never, HistoryFile> =>
    Layer.effect(
      this,
      Effect.gen(function* () {
        const file = yield* HistoryFile
        return { append: append(file, options), lookup: lookup(file), metadata: metadata(file) }
      }),
    )
}

type File = HistoryFile["Service"]
type Service = MessageHistory["Service"]

const append = (file: File, { persistence }: HistoryOptions): Service["append"] =>
  Effect.fnUntraced(function* (conversationId, text) {
    if (persistence === "none") return
    const ts = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const line = `${JSON.stringify({ session_id: conversationId, ts, text })}\n`
    const bytes = new TextEncoder().encode(line)
    yield* file.append(bytes).pipe(
      Effect.mapError(historyFault),
      Effect.filterOrFail(
        (isDone) => isDone,
        () => new HistoryLocked(),
      ),
      Effect.retry({
        schedule: Schedule.spaced(lockRetries.apart),
        times: lockRetries.times,
        while: (error) => error._tag === "Crowded",
      }),
      Effect.catchTag(
        "Crowded",
        () => new HistoryFault({ message: "the message history is locked by somebody else" }),
      ),
    )
  })

const lookup = (file: File): Service["lookup"] =>
  Effect.fnUntraced(
    function* (logId, offset) {
      const log = yield* file.open
      if (log === undefined || log.logId !== logId) return undefined
      const reader = new LineReader(log, 0, log.bytes)
      for (let seen = 0; ;) {
        const lines = yield* reader.next
        if (lines === undefined) return undefined
        const line = lines[offset - seen]
        if (line !== undefined) return entryOf(line.text)
        seen += lines.length
      }
    },
    Effect.scoped,
    Effect.mapError(historyFault),
  )

const entryOf = (text: string | undefined): HistoryEntry | undefined =>
  Option.getOrUndefined(
    Option.map(decode(text), ({ session_id, text: said, ts }) => ({
      conversationId: session_id,
      ts,
      text: said,
    })),
  )

const metadata = (file: File): Service["metadata"] =>
  Effect.gen(function* () {
    const log = yield* file.open
    if (log === undefined) return { logId: 0, entryCount: 0 }
    const reader = new LineReader(log, 0, log.bytes)
    let entryCount = 0
    for (;;) {
      const lines = yield* reader.next
      if (lines === undefined) return { logId: log.logId, entryCount }
      entryCount += lines.length
    }
  }).pipe(Effect.scoped, Effect.mapError(historyFault))
