/** The turns of a thread, read back from its log with the fold that live events go through. Pure. */
import { withoutReverted } from "@colloquy/core/log/Reverted"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { RecordOf } from "@colloquy/core/LogRecord"
import type { ThreadItem } from "@colloquy/protocol/thread/Items"
import type { Turn } from "@colloquy/protocol/thread/Thread"
import { runningTurn, ThreadFold, type ThreadOutput } from "./ThreadFold.ts"

/** A turn with its finished items, and then the open ones. */
export interface HistoryTurn extends Omit<Turn, "items"> {
  readonly items: ReadonlyArray<ThreadItem>
}

/** A thread as its log tells it. */
export interface ThreadHistory {
  /** Oldest first. Only the last one can be without an end: it runs, and has its open items. */
  readonly turns: ReadonlyArray<HistoryTurn>
  /** The state after the last event. It is shared: a copy of it continues. */
  readonly fold: ThreadFold
  /** Number of the next event. */
  readonly next: number
  /** The last usage that the model has reported, if any. */
  readonly usage: ReportedUsage | undefined
}

/** A usage that the model has reported in a turn. */
export interface ReportedUsage {
  readonly turnId: string
  readonly msg: EventOf<"token_count">
}

interface Draft {
  turn: Turn
  readonly items: Array<ThreadItem>
}

const collect = (drafts: Map<string, Draft>, output: ThreadOutput): void => {
  const draftOf = (turn: Turn): Draft => {
    const known = drafts.get(turn.id) ?? { turn, items: [] }
    drafts.set(turn.id, known)
    return known
  }
  switch (output._tag) {
    case "TurnStarted":
      draftOf(output.turn)
      return
    case "ItemCompleted":
      // The logs of other programs have items whose turn has no beginning.
      draftOf({ ...runningTurn(output.turnId, null), status: "completed" }).items.push(output.item)
      return
    case "TurnCompleted":
      draftOf(output.turn).turn = output.turn
      return
    default:
  }
}

/**
 * Reads the events of a log. The last turn runs as long as the log has no end of it, whether the thread is loaded or not:
 * another process may run it, and after a kill its questions still wait, or the process that loads the thread continues it.
 * Only that process decides whether it is interrupted (`RecoverTurn.ts` of the core), and records this then. So no status
 * and no item that was read is taken back by a later read.
 */
export const readHistory = (records: ReadonlyArray<RecordOf<"Event">>): ThreadHistory => {
  const fold = new ThreadFold()
  const drafts = new Map<string, Draft>()
  let next = 0
  let usage: ReportedUsage | undefined
  const kept = new Set(withoutReverted(records.map(({ event }) => event)))
  for (const { atMs, event } of records) {
    next = event.seq + 1
    if (!kept.has(event)) continue
    for (const output of fold.step(event, atMs)) {
      collect(drafts, output)
      if (output._tag === "Message" && output.msg.type === "token_count") {
        usage = { turnId: output.turnId, msg: output.msg }
      }
    }
  }
  for (const { item, turnId } of fold.open) {
    if (turnId === fold.turnId) drafts.get(turnId)?.items.push(item)
  }
  const turns = [...drafts.values()].map(({ items, turn }): HistoryTurn => ({
    ...turn,
    items,
    itemsView: "full",
  }))
  return { turns, fold, next, usage }
}

/** The turn with that part of its items. */
export const viewed = (turn: HistoryTurn, view: Turn["itemsView"]): HistoryTurn => {
  switch (view) {
    case "full":
      return turn
    case "notLoaded":
      return { ...turn, items: [], itemsView: "notLoaded" }
    case "summary": {
      const first = turn.items.find(({ type }) => type === "userMessage")
      const last = turn.items.findLast(({ type }) => type === "agentMessage")
      const items = [first, last].filter((one) => one !== undefined)
      return { ...turn, items, itemsView: "summary" }
    }
  }
}
