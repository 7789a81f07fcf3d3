/** L3, L4 and L7 over a story: what is read when all is done, and what comes after a crash. Pure. */
import { isTerminal } from "@colloquy/protocol/EventMsg"
import type { Story } from "../Story.ts"
import type { Answer } from "../Trace.ts"

/** L3: who was made and never ended is there at the end, whatever the store did. */
export const readAtLast = ({ calls, run }: Story): ReadonlyArray<string> => {
  const ended = new Set(
    calls.flatMap(({ answers, entry: { conversation, operation } }) =>
      // It lives on when the store does not forget it.
      (operation.do === "remove" && answers[0]?.answer.is !== "error") ||
      (operation.do === "submit" && operation.what === "shutdown")
        ? [conversation]
        : [],
    ),
  )
  // Others that are listened to may leave no room for it in memory.
  const noRoom = (answer: Answer) =>
    answer.is === "error" && answer.reason?.endsWith("in use already, which is the limit") === true
  return run.trace.flatMap((entry) =>
    entry.at === "read" &&
    entry.answer.is !== "ok" &&
    !noRoom(entry.answer) &&
    !ended.has(entry.conversation)
      ? [`${entry.conversation} cannot be read: ${JSON.stringify(entry.answer)}`]
      : [],
  )
}

/** L4: after a crash a log begins with all that was left of it, and closes what that leaves open. */
export const beginsWithTheRest = ({ conversations, run }: Story): ReadonlyArray<string> =>
  [...(run.left ?? [])].flatMap(([id, left]) => {
    const log = conversations.get(id)?.durable.map(({ event }) => event)
    if (log === undefined) return run.end === "done" ? [`${id} is not found again`] : []
    const begins = JSON.stringify(log.slice(0, left.length)) === JSON.stringify(left)
    return begins ? [] : [`${id} does not begin with the ${left.length} events that were left`]
  })

/** L5: a turn that the crash cut off is told to be over before anything else. */
export const closesTheCut = ({ conversations, run }: Story): ReadonlyArray<string> =>
  [...(run.left ?? [])].flatMap(([id, left]) => {
    const begun = left.findLast(({ msg }) => msg.type === "task_started")
    const over = left.some((e) => e.id === begun?.id && e.seq > begun.seq && isTerminal(e.msg))
    if (begun === undefined || over) return []
    const next = conversations
      .get(id)
      ?.durable.slice(left.length)
      .find(({ event }) => event.msg.type !== "approval_resolved")?.event
    return next?.id === begun.id && next.msg.type === "turn_aborted"
      ? []
      : [`turn ${begun.id} of ${id} is cut off, and ${JSON.stringify(next)} follows`]
  })

/** L7: a question that the crash left open is denied, with a reason, before its turn is told to be over. */
export const failsClosed = ({ conversations, run }: Story): ReadonlyArray<string> =>
  [...(run.left ?? [])].flatMap(([id, left]) => {
    const log = conversations.get(id)?.durable.map(({ event }) => event) ?? []
    return left.flatMap(({ id: turn, msg, seq }) => {
      if (msg.type !== "exec_approval_request") return []
      const over = log.findIndex((e) => e.seq > seq && e.id === turn && isTerminal(e.msg))
      const verdicts = log
        .slice(seq, over === -1 ? undefined : over)
        .flatMap((e) =>
          e.msg.type === "approval_resolved" && e.msg.call_id === msg.call_id
            ? [{ seq: e.seq, decision: e.msg.decision }]
            : [],
        )
      const [first] = verdicts
      if (first === undefined) return [`${msg.call_id} is still open after the crash`]
      const allowed = first.seq >= left.length && first.decision !== "denied"
      return allowed ? [`${msg.call_id} becomes ${first.decision} after the crash`] : []
    })
  })
