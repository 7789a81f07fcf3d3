/** The state of a conversation as the fold of its log. Pure. */
import type { Event } from "@colloquy/protocol/EventMsg"
import { type Question, restoredNumber } from "../decider/ApprovalBook.ts"
import { isQuestion, requestOf } from "../question/ApprovalEvents.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { initialState, project, type State } from "../decider/State.ts"
import type { Recovered } from "./LogFold.ts"

const questionOf = (
  { id, msg, seq }: Event,
  { unfinished }: Recovered,
): ReadonlyArray<Question> => {
  if (!isQuestion(msg)) return []
  const told = unfinished.questions.get(seq)
  return [
    {
      number: restoredNumber(seq),
      seq,
      turnId: id,
      request: requestOf(msg, told?.sandbox),
      parked: told?.expiresAtMs === undefined,
    },
  ]
}

/** As it was when the log ended; what becomes of an open turn is decided in `Reopen.ts`. */
export const restoreState = (settings: ConversationSettings, existing: Recovered): State => {
  const { unfinished, log } = existing
  const folded = log
    .all()
    .reduce(project, { ...initialState(settings), receipts: unfinished.receipts })
  const open = log.openQuestions().flatMap((event) => questionOf(event, existing))
  const { turn } = folded
  return {
    ...folded,
    waiting: unfinished.waiting,
    ...(open.length === 0 ? {} : { approvals: { ...folded.approvals, open } }),
    ...(turn === undefined || unfinished.stopped === undefined
      ? {}
      : { turn: { ...turn, aborting: unfinished.stopped } }),
  }
}
