/** What `colloquy sessions` does with the stored conversations. */
import type { ConversationSummary } from "@colloquy/core/ConversationManager"
import { itemsOf } from "@colloquy/core/log/Items"
import { localPrincipal } from "@colloquy/protocol/Connection"
import { defined } from "@colloquy/protocol/Defined"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import { Server } from "@colloquy/server/Server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { printable } from "../../demo/Format.ts"
import { CommandFailed } from "../CommandFailed.ts"
import { output, print, printProblem } from "../Output.ts"
import { sessionTable } from "./SessionTable.ts"
import { factRows, transcriptRows } from "./SessionText.ts"
import { jsonText } from "../JsonText.ts"

type Conversations = ConversationsView["Service"]

const conversations: Effect.Effect<Conversations, never, Server> = Effect.map(Server, (server) =>
  server.conversations(localPrincipal),
)

/** What is listed. */
export interface ListOptions {
  /** Only conversations with this text in their name or first message. */
  readonly search: string | undefined
  /** Only conversations that began in this directory. */
  readonly cwd: string | undefined
  readonly archived: boolean
  readonly limit: number
  readonly json: boolean
}

const jsonOf = ({ createdAtMs, updatedAtMs, loaded: _, ...rest }: ConversationSummary) => ({
  ...rest,
  createdAt: new Date(createdAtMs).toISOString(),
  updatedAt: new Date(updatedAtMs).toISOString(),
})

const printJson = (value: unknown) => print([jsonText(value, 2)])

/** Largest page of the store. */
const maxPage = 1000

/** The newest conversations, up to the limit. */
const newest = Effect.fnUntraced(function* ({ archived, cwd, limit, search }: ListOptions) {
  const view = yield* conversations
  const found: Array<ConversationSummary> = []
  let cursor: string | undefined
  do {
    const page = yield* view.list({
      limit: Math.min(maxPage, limit - found.length),
      archived,
      ...(search === undefined ? {} : { text: search }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    found.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined && found.length < limit)
  return { found, hasMore: cursor !== undefined }
})

/** Prints the table, or with `json` one array. */
export const list = Effect.fnUntraced(function* (options: ListOptions) {
  const { found, hasMore } = yield* newest(options)
  if (options.json) return yield* printJson(found.map(jsonOf))
  if (found.length === 0) {
    return yield* print([
      options.search === undefined && options.cwd === undefined
        ? "No conversations yet: `colloquy chat` starts one."
        : "No conversation was found.",
    ])
  }
  const nowMs = yield* Clock.currentTimeMillis
  const { columns, style } = output()
  const [titles = "", ...rows] = sessionTable(found, { columns, nowMs })
  yield* print([style.dim(titles), ...rows])
  if (hasMore) yield* print([style.dim("There are more: use `--limit` or `--search`.")])
})

/** The id of a conversation in the form in which it is stored. */
export const idOf = Effect.fnUntraced(function* (text: string) {
  const parsed = parseConversationId(text)
  return "problem" in parsed
    ? yield* new CommandFailed({
        message: `invalid conversation id \`${text}\`: ${parsed.problem}`,
      })
    : parsed.id
})

/** The ids of the conversations with exactly this name, newest first. Archived ones do not count. */
const namedIn = Effect.fnUntraced(function* (view: Conversations, name: string) {
  const ids: Array<string> = []
  let cursor: string | undefined
  do {
    const page = yield* view.list({
      limit: maxPage,
      text: name,
      ...(cursor === undefined ? {} : { cursor }),
    })
    ids.push(...page.items.filter((one) => one.name === name).map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
})

/** The id of the conversation with this id, or with this name if it is the only one. */
export const idOrName = Effect.fnUntraced(function* (text: string) {
  const parsed = parseConversationId(text)
  if (!("problem" in parsed)) return parsed.id
  const name = text.trim().replaceAll(/\s+/gu, " ")
  const ids = name === "" ? [] : yield* namedIn(yield* conversations, name)
  const [id, ...others] = ids
  const shown = printable(text)
  if (id === undefined) {
    return yield* new CommandFailed({
      message: `no conversation has the id or the name \`${shown}\`: \`colloquy sessions list\` shows them`,
    })
  }
  if (others.length === 0) return id
  return yield* new CommandFailed({
    message: [`${ids.length} conversations have the name \`${shown}\`:`, ...ids].join("\n  "),
  })
})

/** The id of the newest conversation that began in `cwd`. */
export const newestIn = Effect.fnUntraced(function* (cwd: string) {
  const { items } = yield* (yield* conversations).list({ cwd, limit: 1, withPreview: true })
  const [first] = items
  if (first !== undefined) return first.id
  return yield* new CommandFailed({ message: `there is no conversation to resume in ${cwd}` })
})

const summaryOf = Effect.fnUntraced(function* (view: Conversations, text: string) {
  const { archived, meta, name, path, preview, updatedAtMs } = yield* view.metadata({
    id: yield* idOf(text),
  })
  const { createdAtMs, cwd, id, model, provider } = meta
  const summary: ConversationSummary = {
    id,
    loaded: false,
    createdAtMs,
    updatedAtMs,
    cwd,
    archived,
    ...defined({ name, preview, path, model, provider }),
  }
  return summary
})

/** Prints the facts about a conversation and its items, also of one that another process has: only its log is read. */
export const show = Effect.fnUntraced(function* (
  text: string,
  { json }: { readonly json: boolean },
) {
  const view = yield* conversations
  const summary = yield* summaryOf(view, text)
  const items = itemsOf((yield* view.history(summary.id)).map(({ event }) => event))
  if (json) return yield* printJson({ ...jsonOf(summary), items })
  const options = output()
  // A program reads each fact in one line.
  const facts = options.isTerminal ? options : { ...options, columns: Infinity }
  yield* print([...factRows(summary, facts), ...transcriptRows(items, options)])
})

/** Names a conversation. */
export const rename = Effect.fnUntraced(function* (text: string, given: string) {
  const id = yield* idOf(text)
  const name = yield* (yield* conversations).rename(id, given)
  yield* print([`named ${id} ${printable(name)}`])
})

/** Prints the id of the copy, which a program can read. */
export const fork = Effect.fnUntraced(function* (text: string, dropped: number) {
  const id = yield* idOf(text)
  const copy = yield* (yield* conversations)
    .fork(id, { _tag: "DropLastUserMessages", n: dropped })
    .pipe(
      Effect.catchTag(
        "BadForkRule",
        ({ message }) => new CommandFailed({ message: message.replace(/^n: /, "`--drop`: ") }),
      ),
    )
  yield* print([copy.id])
})

/** Changes each of the conversations, and reports each. Fails at the end when one of them was not changed. */
const each = (
  done: string,
  change: (view: Conversations, id: string) => ReturnType<Conversations["unarchive"]>,
) =>
  Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
    const view = yield* conversations
    // Nothing is changed if one of them is not an id.
    const ids = [...new Set(yield* Effect.forEach(texts, idOf))]
    if (ids.length === 1 && ids[0] !== undefined) {
      yield* change(view, ids[0])
      return yield* print([`${done} ${ids[0]}`])
    }
    let missing = 0
    for (const id of ids) {
      yield* change(view, id).pipe(
        Effect.andThen(print([`${done} ${id}`])),
        Effect.catch(({ message }) => {
          missing += 1
          return printProblem(`${id} was not ${done}: ${message}`)
        }),
      )
    }
    if (missing === 0) return
    return yield* new CommandFailed({
      message: `${missing} of ${ids.length} conversations were not ${done}`,
    })
  })

/** Hides conversations from lists. */
export const archive = each("archived", (view, id) => view.archive(id))
/** Reverses `archive`. */
export const unarchive = each("unarchived", (view, id) => view.unarchive(id))
/** Deletes conversations. */
export const remove = each("removed", (view, id) => view.remove(id))
