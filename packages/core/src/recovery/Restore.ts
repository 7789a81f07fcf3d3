/** The state of a conversation as the fold of its log. Pure. */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { Question } from "../decider/ApprovalBook.ts"
import { isQuestion, requestOf } from "../approvals/ApprovalEvents.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { initial, project, type State } from "../decider/State.ts"
import type { Recovered } from "./LogFold.ts"

/** Numbers of questions that were put before a restart: no tool of this life has such a one. */
const numberOf = (seq: number): number => -1 - seq

/** True for the number of a question whose asker is gone. */
export const isRestored = (number: number): boolean => number < 0

const questionOf = ({ id, msg, seq }: Event, { left }: Recovered): ReadonlyArray<Question> => {
  if (!isQuestion(msg)) return []
  const told = left.questions.get(seq)
  return [
    {
      number: numberOf(seq),
      seq,
      turnId: id,
      request: requestOf(msg, told?.sandbox),
      parked: told?.expiresAtMs === undefined,
    },
  ]
}

/** As it was when the log ended; what becomes of an open turn is decided in `Reopen.ts`. */
export const restore = (settings: ConversationSettings, existing: Recovered): State => {
  const { left, log } = existing
  const folded = log.all().reduce(project, { ...initial(settings), receipts: left.receipts })
  const open = log.openQuestions().flatMap((event) => questionOf(event, existing))
  const { turn } = folded
  return {
    ...folded,
    waiting: left.waiting,
    ...(open.length === 0 ? {} : { approvals: { ...folded.approvals, open } }),
    ...(turn === undefined || left.stopped === undefined
      ? {}
      : { turn: { ...turn, aborting: left.stopped } }),
  }
}
