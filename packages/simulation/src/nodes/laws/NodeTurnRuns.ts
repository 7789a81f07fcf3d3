/** L1, L5 and L10 over a run of a cluster: what a caller gets that runs a turn through another node than its client. Pure. */
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { acknowledged, describe, entriesOf, type NodesHistory } from "../NodeHistory.ts"

/** What a turn that was run resolved with. */
interface Ran {
  readonly receipt: { readonly id: string; readonly disposition: string }
  readonly end?: { readonly seq: number; readonly type: string }
}

/** Every turn that was run to its end or to an error, with the call of the client that sent the same message. */
const runsOf = ({ calls, run }: NodesHistory) => {
  const callsByNumber = new Map(calls.map((call) => [call.entry.call, call]))
  return entriesOf(run.trace, "turnRan").flatMap(({ at, entry }) => {
    const call = callsByNumber.get(entry.call)
    const ran = entry.answer.is === "ok" ? (entry.answer.value as Ran) : undefined
    return call === undefined ? [] : [{ at, call, entry, ran }]
  })
}

/** The error of a conversation that is archived, or is being archived. */
const archivedTag = "ConversationUnavailable"

/** True when a client asked to archive the conversation before this place of the trace. */
const wasArchived = ({ calls }: NodesHistory, conversation: string, before: number): boolean =>
  calls.some(
    ({ at, entry }) =>
      entry.conversation === conversation && at < before && entry.action.do === "archive",
  )

/** L5: the end that a caller gets is the terminal event of the turn; without an end, the message started no turn. */
export const endsAreRecorded = (history: NodesHistory): ReadonlyArray<string> =>
  runsOf(history).flatMap(({ call, entry, ran }) => {
    if (ran === undefined) return []
    const { end, receipt } = ran
    if (end === undefined) {
      return receipt.disposition === "none" ? [] : [`${receipt.id} has no end: ${describe(call)}`]
    }
    const event = history.run.logs.get(entry.conversation)?.events[end.seq]
    return event?.id === receipt.id && event.msg.type === end.type && isTerminal(event.msg)
      ? []
      : [
          `${receipt.id} ended with ${end.type} ${end.seq}, where ${event?.msg.type} of ${event?.id} is recorded: ${describe(call)}`,
        ]
  })

/** L10: two callers that send one message get the same receipt. */
export const receiptsAgree = (history: NodesHistory): ReadonlyArray<string> =>
  runsOf(history).flatMap(({ call, ran }) => {
    const own = acknowledged(call)?.value as Ran["receipt"] | undefined
    if (ran === undefined || own === undefined) return []
    const { disposition, id } = ran.receipt
    return own.id === id && own.disposition === disposition
      ? []
      : [`another caller got ${id} (${disposition}): ${describe(call)}`]
  })

/** L1: an error of a caller that runs a turn has its cause in what the clients did. */
export const errorsHaveCauses = (history: NodesHistory): ReadonlyArray<string> =>
  runsOf(history).flatMap(({ at, call, entry: { answer, conversation } }) => {
    if (answer.is === "ok") return []
    const tag = answer.is === "error" ? answer.tag : answer.is
    const { action } = call.entry
    const isExplained =
      tag === "SubmissionRefused"
        ? action.do === "send" && action.whileRunning === "reject"
        : tag === archivedTag && wasArchived(history, conversation, at)
    return isExplained
      ? []
      : [`running the turn of this call gave ${JSON.stringify(answer)}: ${describe(call)}`]
  })

/** L5: a caller that waits for the end of a turn gets it, or an error, before the run has come to rest. */
export const waitsEnd = ({ run: { trace } }: NodesHistory): ReadonlyArray<string> => {
  const closing = trace.findIndex(({ at }) => at === "closing")
  if (closing === -1) return []
  const over = new Set(
    entriesOf(trace, "turnRan").flatMap(({ at, entry }) => (at < closing ? [entry.call] : [])),
  )
  return entriesOf(trace, "turnRun").flatMap(({ entry: { call, conversation } }) =>
    over.has(call) ? [] : [`the turn of call ${call} in ${conversation} is still waited for`],
  )
}
