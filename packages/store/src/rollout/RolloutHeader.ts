/**
 * Parses the beginning of a rollout file: which program wrote it, the metadata of its conversation,
 * and the first event, `session_configured`, which the original does not store. Pure. A file that
 * does not start like a rollout is not one.
 */
import type { ConversationMeta } from "@colloquy/core/ConversationStore"
import { eventRecord, type LogRecord } from "@colloquy/core/LogRecord"
import { ConversationId } from "@colloquy/protocol/Ids"
import { parseJson } from "@colloquy/protocol/Json"
import { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type LineFormat, maxLineDepth } from "./LineDecoder.ts"
import { cwdInEnvironment } from "./ForeignItems.ts"
import { msOf } from "../internal/IsoTime.ts"
import { initialNumbering, type Numbering, ownLineTypes } from "./LineEncoder.ts"

/** What the beginning of a file says. */
export interface RolloutHeader {
  readonly meta: ConversationMeta
  /** The program that wrote the file. */
  readonly lineFormat: LineFormat
  /** Version of the format of this program; absent in a file of the original. */
  readonly formatVersion?: number
  /**
   * Records that precede those of the second line: `session_configured` for a file of the original.
   */
  readonly records: ReadonlyArray<LogRecord>
  /** The numbering behind `records`. */
  readonly numbering: Numbering
}

/** Number of lines that contain the header. The original looks at as many. */
export const headerLineCount = 10

const text = Schema.optionalKey(Schema.NullOr(Schema.String))

const Git = Schema.Struct({ commit_hash: text, branch: text, repository_url: text })

const SessionMeta = Schema.Struct({
  id: ConversationId,
  timestamp: Schema.String,
  cwd: text,
  originator: text,
  cli_version: text,
  instructions: text,
  source: Schema.optionalKey(Schema.Unknown),
  model_provider: text,
  git: Schema.optionalKey(Schema.NullOr(Git)),
})

const September = Schema.Struct({
  type: Schema.Literal("session_meta"),
  payload: SessionMeta,
})

const Own = Schema.Struct({
  type: Schema.Literal(ownLineTypes.meta),
  payload: Schema.Struct({
    format: Schema.optionalKey(Schema.Finite),
    provider: Schema.optionalKey(Schema.String),
    model: Schema.optionalKey(Schema.String),
    forked_from: Schema.optionalKey(Schema.String),
    owner: Schema.optionalKey(Schema.String),
  }),
})

const TurnContext = Schema.Struct({
  type: Schema.Literal("turn_context"),
  payload: Schema.Struct({ model: Schema.String }),
})

const Item = Schema.Struct({ type: Schema.Literal("response_item"), payload: ResponseItem })

const asSeptember = Schema.decodeUnknownOption(September)
const asAugust = Schema.decodeUnknownOption(SessionMeta)
const asOwn = Schema.decodeUnknownOption(Own)
const asContext = Schema.decodeUnknownOption(TurnContext)
const asItem = Schema.decodeUnknownOption(Schema.Union([Item, ResponseItem]))

const parse = (line: string): unknown => Result.getOrUndefined(parseJson(line, maxLineDepth))

const optionalMember = <K extends string>(name: K, value: string | null | undefined) =>
  (value === null || value === undefined ? {} : { [name]: value }) as { readonly [_ in K]?: string }

const metaOf = (from: typeof SessionMeta.Type, cwd: string): ConversationMeta => {
  const { git } = from
  return {
    id: from.id,
    createdAtMs: msOf(from.timestamp) ?? 0,
    cwd,
    originator: from.originator ?? "codex_cli_rs",
    version: from.cli_version ?? "",
    ...optionalMember("instructions", from.instructions),
    ...(typeof from.source === "string" ? { source: from.source } : {}),
    ...optionalMember("provider", from.model_provider),
    ...(git === undefined || git === null
      ? {}
      : {
          git: {
            ...optionalMember("commitHash", git.commit_hash),
            ...optionalMember("branch", git.branch),
            ...optionalMember("repositoryUrl", git.repository_url),
          },
        }),
  }
}

/** The first value that is present. */
const first = <A>(values: ReadonlyArray<Option.Option<A>>): A | undefined =>
  Option.getOrUndefined(Option.firstSomeOf(values))

/** The first event of every log (L3), made for a file of the original, which has none. */
const sessionConfigured = (meta: ConversationMeta): LogRecord =>
  eventRecord(meta.createdAtMs, {
    seq: 0,
    id: "",
    msg: {
      type: "session_configured",
      session_id: meta.id,
      model: meta.model ?? "",
      history_log_id: 0,
      history_entry_count: 0,
      thread_id: meta.id,
      cwd: meta.cwd,
      ...(meta.provider === undefined ? {} : { model_provider_id: meta.provider }),
    },
  })

const originalHeader = (
  from: typeof SessionMeta.Type,
  lineFormat: LineFormat,
  following: ReadonlyArray<unknown>,
): RolloutHeader => {
  const environmentCwd = first(
    following.map((value) =>
      Option.flatMap(asItem(value), (item) =>
        Option.fromNullishOr(cwdInEnvironment("payload" in item ? item.payload : item)),
      ),
    ),
  )
  const model = first(following.map((value) => asContext(value)))?.payload.model
  const meta = {
    ...metaOf(from, from.cwd ?? environmentCwd ?? "/"),
    ...optionalMember("model", model),
  }
  return {
    meta,
    lineFormat,
    records: [sessionConfigured(meta)],
    numbering: { ...initialNumbering, seq: 1 },
  }
}

/**
 * Parses the first whole lines of a file, at least one and at most `headerLineCount`; undefined
 * when they are not the beginning of a rollout.
 */
export const parseHeader = (lines: ReadonlyArray<string>): RolloutHeader | undefined => {
  const [firstLine, ...following] = lines.map(parse)
  const september = asSeptember(firstLine)
  if (Option.isNone(september)) {
    const august = asAugust(firstLine)
    return Option.isSome(august) ? originalHeader(august.value, "august", following) : undefined
  }
  const { payload } = september.value
  const own = asOwn(following[0])
  if (Option.isNone(own)) return originalHeader(payload, "september", following)
  const { forked_from, format: formatVersion, model, owner, provider } = own.value.payload
  const meta = {
    ...metaOf(payload, payload.cwd ?? "/"),
    ...optionalMember("provider", provider),
    ...optionalMember("model", model),
    ...optionalMember("forkedFrom", forked_from),
    ...optionalMember("owner", owner),
  }
  return {
    meta,
    lineFormat: "colloquy",
    ...(formatVersion === undefined ? {} : { formatVersion }),
    records: [],
    numbering: initialNumbering,
  }
}
