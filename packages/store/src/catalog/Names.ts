/**
 * The names of conversations. They are kept in one file that is shared with the original program, `session_index.jsonl` in
 * the state directory: a line per naming, the last line of a conversation counts. Lines are only appended. The index holds
 * what was read of the file; each use reads what was appended since, by any process. Lines that are no names are ignored.
 */
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { FileFault, Files } from "../Files.ts"
import { orUndefined } from "../internal/FileErrors.ts"
import { isoOf } from "../internal/IsoTime.ts"
import type { CatalogIndex } from "./CatalogIndex.ts"
import { LineReader } from "../rollout/LineReader.ts"
import type { NameRow } from "../RolloutIndex.ts"

/** Name of the file in the state directory. */
export const namesFile = "session_index.jsonl"

/** A longer line is no name. */
const maxLineLength = 64 * 1024

const newline = 0x0a

const Line = Schema.Struct({ id: Schema.String, thread_name: Schema.String })
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Line))

const rowOf = (text: string | undefined): NameRow | undefined => {
  if (text === undefined || text.length > maxLineLength) return undefined
  const line = Option.getOrUndefined(decode(text))
  const parsed = line === undefined ? undefined : parseConversationId(line.id)
  const name = line?.thread_name.trim() ?? ""
  return parsed === undefined || "problem" in parsed || name === ""
    ? undefined
    : { id: parsed.id, name }
}

/** See the header. */
export class Names {
  private readonly files: Files["Service"]
  private readonly path: string
  private readonly index: CatalogIndex

  /** @param home the state directory */
  constructor(files: Files["Service"], home: string, index: CatalogIndex) {
    this.files = files
    this.path = `${home}/${namesFile}`
    this.index = index
  }

  /** Names a conversation. Completes when the name is on the disk. */
  readonly append = Effect.fnUntraced(function* (
    this: Names,
    id: ConversationId,
    name: string,
  ): Effect.fn.Return<void, FileFault> {
    const updated_at = isoOf(yield* Clock.currentTimeMillis)
    const line = `${JSON.stringify({ id, thread_name: name, updated_at })}\n`
    // A program that ended while it appended left a line without its end.
    const isTorn = yield* this.endsWithinLine
    yield* this.files.append(this.path, new TextEncoder().encode(isTorn ? `\n${line}` : line))
  })

  /** The name of a conversation; undefined when it has none. */
  readonly of = Effect.fnUntraced(function* (
    this: Names,
    id: ConversationId,
  ): Effect.fn.Return<string | undefined, FileFault> {
    for (;;) {
      const { generation } = this.index
      // The index is not created for a state directory without names.
      if (!(yield* this.refresh)) return undefined
      const name = yield* this.index.use((index) => index.nameOf(id))
      if (generation === this.index.generation) return name
    }
  })

  /** Reads what was appended to the file. False when there is no file. */
  readonly refresh: Effect.Effect<boolean, FileFault> = Effect.suspend(() =>
    Effect.flatMap(orUndefined(this.files.stat(this.path)), (stat) =>
      stat?.kind === "file" ? Effect.as(this.readFrom(stat.bytes), true) : Effect.succeed(false),
    ),
  )

  private readonly readFrom = Effect.fnUntraced(function* (
    this: Names,
    bytes: number,
  ): Effect.fn.Return<void, FileFault, Scope.Scope> {
    const known = yield* this.index.use((index) => index.namesRead)
    if (known === bytes) return
    // A shorter file is another one: it is read as a whole, and replaces all names.
    let from = known < bytes ? known : 0
    const handle = yield* this.files.open(this.path, "read")
    const reader = new LineReader(handle, from, bytes)
    if (from === 0) yield* this.index.use((index) => index.putNames([], 0, 0))
    for (;;) {
      const lines = yield* reader.next
      if (lines === undefined) return
      const rows = lines.flatMap(({ text }) => rowOf(text) ?? [])
      const [start, end] = [from, reader.offset]
      yield* this.index.use((index) => index.putNames(rows, start, end))
      from = end
    }
  }, Effect.scoped)

  private get endsWithinLine(): Effect.Effect<boolean, FileFault> {
    return Effect.gen({ self: this }, function* () {
      const stat = yield* orUndefined(this.files.stat(this.path))
      if (stat === undefined || stat.bytes === 0) return false
      const handle = yield* this.files.open(this.path, "read")
      const [last] = yield* handle.read(stat.bytes - 1, 1)
      return last !== newline
    }).pipe(Effect.scoped)
  }
}
