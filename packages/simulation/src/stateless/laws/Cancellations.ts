/** What a client takes back stops, wherever it was: running, asking, opened, sealed, or on its way. Pure. */
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
  type StatelessStory,
  type ToolCall,
} from "../StatelessHistory.ts"

/** The cancellations of a request. */
export const cancelsOf = ({ said }: Connection, id: unknown): ReadonlyArray<WireMessage> =>
  said.filter((one) => one.method === Cancelled._tag && at(one, "params", "requestId") === id)

/** When the server had surely read that: a later request was answered. */
const readBy = (connection: Connection, message: WireMessage): WireMessage | undefined => {
  const probe = connection.said.find(
    (one) => one.method === Discover._tag && one.at > message.at && answerTo(connection, one),
  )
  return probe === undefined ? undefined : answerTo(connection, probe)
}

/** A second, the kill grace, and a little more. */
const boundMs = 1_000 + killGraceMs + 500

/** The longest seal or opening of a run: what is cancelled meanwhile is stopped once it is there. */
const sealedMs = ({ run }: StatelessStory) => run.plan.sealing.ms

const isTurn = ({ answer, asked, connection, isGood, tool }: ToolCall): boolean =>
  tool === "codex" &&
  isGood &&
  !isError(answer) &&
  resultType(answer) !== "task" &&
  connection.whole &&
  connection.said.filter(({ id, method }) => id === asked.id && method !== undefined).length === 1

/** L14: the turn of a call that was taken back comes to its end in time, whatever it waits for. */
export const stopsInTime = (story: StatelessStory): ReadonlyArray<string> =>
  story.calls.filter(isTurn).flatMap((call) => {
    const { asked, connection, text } = call
    const cancel = cancelsOf(connection, asked.id).find((one) => one.at > asked.at)
    const read = cancel === undefined ? undefined : readBy(connection, cancel)
    const conversation = story.conversations.get(text)
    if (read === undefined || conversation === undefined) return []
    const last = read.ms + boundMs + sealedMs(story)
    return story.run.trace.flatMap((entry) =>
      (entry.at === "verdict" || (entry.at === "model" && entry.does === "begins")) &&
      entry.conversation === conversation &&
      entry.ms > last
        ? [`call ${text} was taken back at ${read.ms} and goes on at ${entry.ms}: ${entry.at}`]
        : [],
    )
  })

/** L8: nothing works when all is closed. */
export const nothingLeft = ({ run }: StatelessStory): ReadonlyArray<string> => {
  const works = new Map<string, number>()
  for (const entry of run.trace) {
    if (entry.at !== "ran" || entry.does === "once") continue
    const name = `${entry.tool} of call ${entry.text}`
    works.set(name, (works.get(name) ?? 0) + (entry.does === "begins" ? 1 : -1))
  }
  return [...works].flatMap(([name, count]) => (count === 0 ? [] : [`${name} still works`]))
}
