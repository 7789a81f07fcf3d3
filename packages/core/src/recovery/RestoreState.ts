/** The state of a conversation as a fold of its log. Pure. */
import type { Event } from "@colloquy/protocol/EventMsg"
import { type Question, restoredNumber } from "../decider/ApprovalBook.ts"
import { isQuestion, requestOf } from "../question/ApprovalEvents.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { userMessagesFrom } from "../log/Reverted.ts"
import { initialState, project, type State } from "../decider/State.ts"
import type { Recovered } from "./LogFold.ts"

const questionOf = (
  { id, msg, seq }: Event,
  { unfinished }: Recovered,
): ReadonlyArray<Question> => {
  if (!isQuestion(msg)) return []
  const record = unfinished.questions.get(seq)
  return [
    {
      number: restoredNumber(seq),
      seq,
      turnId: id,
      request: requestOf(msg, record?.sandbox),
      parked: record?.expiresAtMs === undefined,
    },
  ]
}

/** The state at the end of the log. `RecoverTurn.ts` decides what happens to an unfinished turn. */
export const restoreState = (settings: ConversationSettings, existing: Recovered): State => {
  const { unfinished, log } = existing
  const folded = log
    .all()
    .reduce(project, { ...initialState(settings), receipts: unfinished.receipts })
  const open = log.openQuestions().flatMap((event) => questionOf(event, existing))
  const reverts = unfinished.reverts.flatMap((pending) => {
    const dropped = userMessagesFrom(log.all(), pending.turnId)
    return dropped === undefined ? [] : [{ ...pending, dropped }]
  })
  const { turn } = folded
  return {
    ...folded,
    waiting: unfinished.waiting,
    ...(reverts.length === 0 ? {} : { reverts }),
    ...(open.length === 0 ? {} : { approvals: { ...folded.approvals, open } }),
    ...(turn === undefined || unfinished.stopped === undefined
      ? {}
      : { turn: { ...turn, aborting: unfinished.stopped } }),
  }
}
