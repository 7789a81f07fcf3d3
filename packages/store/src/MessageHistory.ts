/**
 * The history of all messages that people entered, in one file that is shared with the original
 * program: `history.jsonl` in the state directory. An entry is appended with a single write under a
 * lock; nothing in the file is ever changed. An entry is addressed by the identity of the file and
 * its line number.
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

/** The history file could not be read or written. Its contents are unchanged. */
export class HistoryFault extends Data.TaggedError("HistoryFault")<{
  /** States the operation, the path and the system's error code. */
  readonly message: string
}> {}

/** The history file, open for reading. */
export interface HistoryLog extends Pick<FileHandle, "read"> {
  /**
   * Distinguishes this file from a file that replaces it: its inode number, or 0 where the system
   * has none.
   */
  readonly logId: number
  /** Length of the file when it was opened. */
  readonly bytes: number
}

/**
 * Port: the history file. `node/NodeHistory.ts` is the implementation on the machine's file system.
 */
export class HistoryFile extends Context.Service<
  HistoryFile,
  {
    /**
     * Appends a line with a single write while holding the lock, and ends an unfinished last line
     * with the same write. Creates the file when it is missing, readable by its owner only. Returns false, without writing, when another process holds the
     * lock.
     */
    readonly append: (bytes: Uint8Array) => Effect.Effect<boolean, FileFault>
    /** Opens the file for reading; undefined when there is none. */
    readonly open: Effect.Effect<HistoryLog | undefined, FileFault, Scope.Scope>
  }
>()("@colloquy/store/HistoryFile") {}

/** One message that a person entered. */
export interface HistoryEntry {
  /** Id of the conversation that the message was sent to. */
  readonly conversationId: string
  /** Seconds since the epoch. */
  readonly ts: number
  readonly text: string
}

/** Settings of the message history. */
export interface HistoryOptions {
  /** `none`: nothing is written. From the key `history.persistence`. */
  readonly persistence: "save-all" | "none"
}

/** The original tries to get the lock as often, with the same pause. */
const lockRetries = { times: 9, apart: Duration.millis(100) }

const Line = Schema.Struct({ session_id: Schema.String, ts: Schema.Int, text: Schema.String })
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Line))

class HistoryLocked extends Data.TaggedError("HistoryLocked") {}

const historyFault = (fault: FileFault): HistoryFault =>
  new HistoryFault({ message: `the message history: ${fault.message}` })

/** The history of messages that people entered, in all conversations. */
export class MessageHistory extends Context.Service<
  MessageHistory,
  {
    /**
     * Appends one entry. Waits up to a second for the lock. Does nothing when `persistence` is
     * `none`.
     */
    readonly append: (conversationId: string, text: string) => Effect.Effect<void, HistoryFault>
    /**
     * Returns the entry in line `offset`, counted from 0, of the file `logId`. Undefined when there
     * is no such line, when the line is not an entry, or when the file has been replaced.
     */
    readonly lookup: (
      logId: number,
      offset: number,
    ) => Effect.Effect<HistoryEntry | undefined, HistoryFault>
    /** Identity of the present file, 0 when there is none, and the number of its lines. */
    readonly metadata: Effect.Effect<
      { readonly logId: number; readonly entryCount: number },
      HistoryFault
    >
  }
>()("@colloquy/store/MessageHistory") {
  /** Layer over a history file. */
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
  Effect.fn("MessageHistory.append")(function* (conversationId, text) {
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
        while: (error) => error._tag === "HistoryLocked",
      }),
      Effect.catchTag(
        "HistoryLocked",
        () => new HistoryFault({ message: "the message history is locked by another process" }),
      ),
    )
  })

const lookup = (file: File): Service["lookup"] =>
  Effect.fn("MessageHistory.lookup")(
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

const entryOf = (line: string | undefined): HistoryEntry | undefined =>
  Option.getOrUndefined(
    Option.map(decode(line), ({ session_id, text, ts }) => ({
      conversationId: session_id,
      ts,
      text,
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
