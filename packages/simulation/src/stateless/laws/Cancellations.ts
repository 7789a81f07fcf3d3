/** L8 and L14: a cancelled call stops at whatever point it was: running, asking, while its state is sealed or opened. Pure. */
import { Cancelled } from "@colloquy/protocol/mcp/CodexMcp"
import { Discover } from "@colloquy/protocol/mcp/Discover"
import { killGraceMs } from "../../scenario/Plan.ts"
import type { WireMessage } from "../../wire/WireHistory.ts"
import { at } from "../StatelessKnown.ts"
import {
  answerTo,
  type Connection,
  isError,
  resultType,
  type StatelessHistory,
  type ToolCall,
} from "../StatelessHistory.ts"

/** The notifications that cancel a request. */
export const cancelsOf = ({ sent }: Connection, id: unknown): ReadonlyArray<WireMessage> =>
  sent.filter((one) => one.method === Cancelled._tag && at(one, "params", "requestId") === id)

/** The first response that proves that the server had read the message: that to a later request. */
const readBy = (connection: Connection, message: WireMessage): WireMessage | undefined => {
  const probe = connection.sent.find(
    (one) => one.method === Discover._tag && one.at > message.at && answerTo(connection, one),
  )
  return probe === undefined ? undefined : answerTo(connection, probe)
}

/** One second plus the kill grace plus a margin, in milliseconds. */
const boundMs = 1_000 + killGraceMs + 500

/** Time that sealing or opening takes in a run: a call that is cancelled during it stops after it. */
const sealedMs = ({ run }: StatelessHistory) => run.plan.sealing.ms

const isTurn = ({ answer, asked, connection, isGood, tool }: ToolCall): boolean =>
  tool === "codex" &&
  isGood &&
  !isError(answer) &&
  resultType(answer) !== "task" &&
  connection.whole &&
  connection.sent.filter(({ id, method }) => id === asked.id && method !== undefined).length === 1

/** L14: the turn of a cancelled call ends in time, whatever it waits for. */
export const stopsInTime = (history: StatelessHistory): ReadonlyArray<string> =>
  history.calls.filter(isTurn).flatMap((call) => {
    const { asked, connection, text } = call
    const cancel = cancelsOf(connection, asked.id).find((one) => one.at > asked.at)
    const read = cancel === undefined ? undefined : readBy(connection, cancel)
    const conversation = history.conversations.get(text)
    if (read === undefined || conversation === undefined) return []
    const last = read.ms + boundMs + sealedMs(history)
    return history.run.trace.flatMap((entry) =>
      (entry.at === "verdict" || (entry.at === "model" && entry.does === "begins")) &&
      entry.conversation === conversation &&
      entry.ms > last
        ? [
            `call ${text} was cancelled at ${read.ms} ms and continues at ${entry.ms} ms: ${entry.at}`,
          ]
        : [],
    )
  })

/** L8: no tool runs after the server has closed. */
export const nothingStillRuns = ({ run }: StatelessHistory): ReadonlyArray<string> => {
  const works = new Map<string, number>()
  for (const entry of run.trace) {
    if (entry.at !== "ran" || entry.does === "once") continue
    const name = `${entry.tool} of call ${entry.text}`
    works.set(name, (works.get(name) ?? 0) + (entry.does === "begins" ? 1 : -1))
  }
  return [...works].flatMap(([name, count]) => (count === 0 ? [] : [`${name} still runs`]))
}
