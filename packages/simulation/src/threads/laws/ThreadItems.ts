/** L4 for threads: what a client is sent of items. Pure. */
import {
  AgentMessageDelta,
  ItemCompleted,
  ItemStarted,
  TurnCompleted,
  TurnStarted,
} from "@colloquy/protocol/thread/Notifications"
import { ThreadResume } from "@colloquy/protocol/thread/Threads"
import { at } from "../../stateless/StatelessKnown.ts"
import { isRequest, isResponse, type WireMessage } from "../../wire/WireHistory.ts"
import { isItem, keyOf, param, type ThreadConnectionHistory, turnOf } from "./ThreadCheck.ts"

interface Piece {
  readonly open: boolean
  readonly text: string
  /** Known by the response to `thread/resume` alone: a request that joined the turn before it may announce it once more. */
  readonly isResumed?: boolean
}

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
      this.items.set(id, { open: at(item, "completedAtMs") === null, text: "", isResumed: true })
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
    const { isResumed = false, open = false, text = "" } = this.items.get(id) ?? {}
    if (one.method === ItemStarted._tag) {
      if (open && !isResumed) this.found.push(`item ${id} starts twice`)
      this.items.set(id, { open: true, text: "" })
    } else if (one.method === AgentMessageDelta._tag) {
      if (!open) this.found.push(`a delta of item ${id}, which is not open`)
      this.items.set(id, { open: true, text: `${text}${String(param(one, "delta"))}` })
    } else if (one.method === ItemCompleted._tag) {
      if (!open) this.found.push(`item ${id} completes, and is not open`)
      this.completed(id, one, text)
    } else if (one.method === TurnCompleted._tag) this.ended(turn)
  }

  private completed(id: string, one: WireMessage, deltas: string): void {
    const text = param(one, "item", "text")
    if (param(one, "item", "type") === "agentMessage" && text !== deltas) {
      this.found.push(`item ${id}: deltas "${deltas}", text "${String(text)}"`)
    }
    this.items.set(id, { open: false, text: "" })
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
