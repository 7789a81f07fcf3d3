/** L4 for threads: what a client is sent of items. Pure. */
import {
  AgentMessageDelta,
  ItemCompleted,
  ItemStarted,
  ReasoningSummaryPartAdded,
  ReasoningSummaryTextDelta,
  ReasoningTextDelta,
  TurnCompleted,
  TurnStarted,
} from "@colloquy/protocol/thread/Notifications"
import { ThreadResume } from "@colloquy/protocol/thread/Threads"
import { at } from "../../stateless/StatelessKnown.ts"
import { isRequest, isResponse, type WireMessage } from "../../wire/WireHistory.ts"
import { isItem, keyOf, param, type ThreadConnectionHistory, turnOf } from "./ThreadCheck.ts"

/** The texts of an item: that of a message is its only content, those of reasoning are its sections. */
interface Texts {
  readonly summary: ReadonlyArray<string>
  readonly content: ReadonlyArray<string>
}

const noTexts: Texts = { summary: [], content: [] }

const stringsAt = (item: unknown, member: keyof Texts): ReadonlyArray<string> => {
  const texts = at(item, member)
  return Array.isArray(texts) ? texts.map(String) : []
}

const textsOf = (item: unknown): Texts => {
  switch (at(item, "type")) {
    case "agentMessage":
      return { summary: [], content: [String(at(item, "text"))] }
    case "reasoning":
      return { summary: stringsAt(item, "summary"), content: stringsAt(item, "content") }
    default:
      return noTexts
  }
}

/** A section without text may have no delta. */
const withMore = (
  texts: ReadonlyArray<string>,
  index: unknown,
  more: unknown,
): ReadonlyArray<string> => {
  const place = Number(index)
  const all = Array.from({ length: Math.max(texts.length, place + 1) }, (_, i) => texts[i] ?? "")
  return all.with(place, `${all[place] ?? ""}${String(more)}`)
}

/** The texts after a notification that adds to them; undefined for another one. */
const textsAfter = (texts: Texts, one: WireMessage): Texts | undefined => {
  const { content, summary } = texts
  const delta = param(one, "delta")
  const summaryIndex = param(one, "summaryIndex")
  switch (one.method) {
    case AgentMessageDelta._tag:
      return { summary, content: withMore(content, 0, delta) }
    case ReasoningTextDelta._tag:
      return { summary, content: withMore(content, param(one, "contentIndex"), delta) }
    case ReasoningSummaryPartAdded._tag:
      return { summary: withMore(summary, summaryIndex, ""), content }
    case ReasoningSummaryTextDelta._tag:
      return { summary: withMore(summary, summaryIndex, delta), content }
    default:
      return undefined
  }
}

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((text, place) => text === others[place])

/** True for what the deltas of an item join to, when it completes with these texts. */
const isWhole = (deltas: Texts, { content, summary }: Texts): boolean =>
  isSame(deltas.summary, summary) &&
  // The beginning of a section of the content is not notified.
  isSame(
    content.length === 0 ? deltas.content : withMore(deltas.content, content.length - 1, ""),
    content,
  )

interface Piece extends Texts {
  readonly open: boolean
  /** Known by the response to `thread/resume` alone: a request that joined the turn before it may announce it once more. */
  readonly isResumed?: boolean
}

/** An item that is not open. */
const ended: Piece = { ...noTexts, open: false }

/** The turns that run in the response to `thread/resume`, each with its items. */
const runningIn = (
  { sent }: ThreadConnectionHistory,
  message: WireMessage,
): ReadonlyArray<readonly [turn: string, items: ReadonlyArray<unknown>]> => {
  // What the client sent with that id may also be a response to a request of the server.
  const request = isResponse(message)
    ? sent.find((one) => isRequest(one) && one.id === message.id)
    : undefined
  const turns = at(message.result, "thread", "turns")
  if (request?.method !== ThreadResume._tag || !Array.isArray(turns)) return []
  const threadId = String(at(message.result, "thread", "id"))
  return turns.flatMap((turn) => {
    const items = at(turn, "items")
    return at(turn, "status") === "inProgress"
      ? [[`${threadId} ${String(at(turn, "id"))}`, Array.isArray(items) ? items : []] as const]
      : []
  })
}

/** The items that a client knows, and what was wrong with what it was sent of them. */
class KnownItems {
  readonly found: Array<string> = []
  private readonly items = new Map<string, Piece>()
  private readonly turns = new Set<string>()

  /** A client that subscribes in the middle of a turn gets what is open of it in the response. */
  resumed(turn: string, items: ReadonlyArray<unknown>): void {
    if (this.turns.has(turn)) return
    this.turns.add(turn)
    for (const item of items) {
      const id = `${turn.slice(0, turn.indexOf(" "))} ${String(at(item, "id"))}`
      const open = at(item, "completedAtMs") === null
      this.items.set(id, { ...textsOf(item), open, isResumed: true })
    }
  }

  notified(one: WireMessage): void {
    const turn = turnOf(one)
    if (turn === undefined) return
    if (one.method === TurnStarted._tag) this.turns.add(turn)
    if (!this.turns.has(turn) && isItem(one)) {
      this.found.push(`${one.method} of turn ${turn}, which has not begun`)
    }
    const id = keyOf(one, param(one, "item", "id") ?? param(one, "itemId"))
    const { isResumed = false, open, ...texts } = this.items.get(id) ?? ended
    const more = textsAfter(texts, one)
    if (one.method === ItemStarted._tag) {
      if (open && !isResumed) this.found.push(`item ${id} starts twice`)
      this.items.set(id, { ...textsOf(param(one, "item")), open: true })
    } else if (more !== undefined) {
      if (!open) this.found.push(`a delta of item ${id}, which is not open`)
      this.items.set(id, { ...more, open: true })
    } else if (one.method === ItemCompleted._tag) {
      if (!open) this.found.push(`item ${id} completes, and is not open`)
      this.completed(id, textsOf(param(one, "item")), texts)
    } else if (one.method === TurnCompleted._tag) this.ended(turn)
  }

  private completed(id: string, texts: Texts, deltas: Texts): void {
    if (!isWhole(deltas, texts)) {
      const [joined, whole] = [deltas, texts].map((one) => JSON.stringify(one))
      this.found.push(`item ${id}: deltas ${joined}, texts ${whole}`)
    }
    this.items.set(id, ended)
  }

  private ended(turn: string): void {
    for (const [id, { open }] of this.items) {
      // Ids of items begin with that of their turn.
      if (open && id.startsWith(`${turn}/`)) {
        this.found.push(`item ${id} is open when its turn ends`)
      }
    }
  }
}

/** What is wrong with the items in these messages of a connection. */
export const brokenItems = (
  connection: ThreadConnectionHistory,
  messages: ReadonlyArray<WireMessage>,
): ReadonlyArray<string> => {
  const known = new KnownItems()
  for (const one of messages) {
    for (const [turn, items] of runningIn(connection, one)) known.resumed(turn, items)
    if (one.method !== undefined && one.id === undefined) known.notified(one)
  }
  return known.found
}
