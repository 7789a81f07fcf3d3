/** The laws that every simulated run of the core must keep (packages/docs/laws.md), each as a check over the run's history. Pure. */
import {
  answeredOnce,
  badInputIsReported,
  receiptsHold,
  repeatsAreIdempotent,
} from "./laws/Answers.ts"
import {
  pendingQuestionsAreDelivered,
  askedOnlyAttended,
  firstAnswerWins,
  resolvedOnce,
} from "./laws/Approvals.ts"
import { nothingLost, numbered } from "./laws/Deliveries.ts"
import { forksKeepTheirPrefix } from "./laws/Forks.ts"
import { startsConfigured, listed } from "./laws/Listing.ts"
import { boundedOutbox, noWaitForListeners } from "./laws/Promptness.ts"
import {
  acknowledgedIsRecorded,
  answersAreRecorded,
  oneWriter,
  receiptsSurvive,
} from "./laws/Durability.ts"
import {
  startsWithSurvivingLog,
  cutTurnsAreEnded,
  cutCallsGetOutputs,
  readableAtEnd,
  questionsSurvive,
} from "./laws/Restarts.ts"
import { summariesAreSeparate } from "./laws/Summaries.ts"
import {
  endsOnce,
  endsWithReason,
  nothingStillRuns,
  noToolStartsAfterEnd,
  stopsInTime,
} from "./laws/Turns.ts"
import { type History, historyOf } from "./trace/History.ts"
import type { Run } from "./World.ts"

/** One check of one law. */
export interface Law {
  readonly law: string
  /** What the check establishes, as a plain sentence. */
  readonly statement: string
  /** Returns one text per violation; empty for a run that keeps the law. */
  readonly check: (history: History) => ReadonlyArray<string>
}

/** Every check of a run of the core, in no particular order. */
export const laws: ReadonlyArray<Law> = [
  {
    law: "L1",
    statement: "every operation is answered once and the run ends",
    check: answeredOnce,
  },
  { law: "L2", statement: "what a receipt announces happens", check: receiptsHold },
  {
    law: "L3",
    statement: "a conversation starts with session_configured",
    check: startsConfigured,
  },
  { law: "L3", statement: "a conversation is listed while it exists", check: listed },
  {
    law: "L3",
    statement: "a conversation can be read at the end, whatever the store does",
    check: readableAtEnd,
  },
  { law: "L4", statement: "events are numbered from 0 without a gap", check: numbered },
  {
    law: "L4",
    statement: "every listener gets every event once and complete texts",
    check: nothingLost,
  },
  {
    law: "L4",
    statement: "a fork starts with the events that its rule keeps",
    check: forksKeepTheirPrefix,
  },
  {
    law: "L4",
    statement: "a log starts with the events that survived a crash",
    check: startsWithSurvivingLog,
  },
  { law: "L5", statement: "every turn ends once, after all its other events", check: endsOnce },
  {
    law: "L5",
    statement: "every listener ends after the turn or with a reason",
    check: endsWithReason,
  },
  { law: "L5", statement: "a turn that a crash cut off is ended", check: cutTurnsAreEnded },
  { law: "L5", statement: "no tool starts after the end of its turn", check: noToolStartsAfterEnd },
  {
    law: "L5",
    statement: "a summary is a separate turn or lies within one",
    check: summariesAreSeparate,
  },
  { law: "L6", statement: "the outbox of every listener is bounded", check: boundedOutbox },
  { law: "L6", statement: "the conversation waits for no listener", check: noWaitForListeners },
  { law: "L7", statement: "every question is resolved once and in time", check: resolvedOnce },
  {
    law: "L7",
    statement: "the first answer decides, and nothing is allowed without one",
    check: firstAnswerWins,
  },
  {
    law: "L7",
    statement: "a question is asked only where a listener can answer it",
    check: askedOnlyAttended,
  },
  {
    law: "L7",
    statement: "a listener that attaches gets the pending questions",
    check: pendingQuestionsAreDelivered,
  },
  {
    law: "L7",
    statement: "a question that was pending at a crash is asked again",
    check: questionsSurvive,
  },
  { law: "L8", statement: "nothing runs after the manager has closed", check: nothingStillRuns },
  {
    law: "L13",
    statement: "bad input is reported and changes nothing",
    check: badInputIsReported,
  },
  {
    law: "L13",
    statement: "a submission that is sent repeatedly is accepted once",
    check: repeatsAreIdempotent,
  },
  { law: "L14", statement: "an interrupted turn ends in time", check: stopsInTime },
  { law: "L10", statement: "nothing acknowledged is lost", check: acknowledgedIsRecorded },
  {
    law: "L10",
    statement: "an answer is recorded before it takes effect",
    check: answersAreRecorded,
  },
  { law: "L10", statement: "a receipt survives a crash", check: receiptsSurvive },
  {
    law: "L11",
    statement: "tool calls that a crash cut off get their outputs",
    check: cutCallsGetOutputs,
  },
  { law: "L16", statement: "one writer at a time records a conversation", check: oneWriter },
]

/** A law that a run broke, and how. */
export interface Violation {
  /** For example `L5`. */
  readonly law: string
  /** The statement of the check, then the operation, listener or event that breaks it. */
  readonly what: string
}

/** Every violation of a run, including those of the process that was started after its crash. */
export const violationsOf = (run: Run): ReadonlyArray<Violation> => {
  const history = historyOf(run)
  const own = laws.flatMap(({ law, statement, check }) =>
    check(history).map((what) => ({ law, what: `${statement}: ${what}` })),
  )
  return run.afterRestart === undefined ? own : [...own, ...violationsOf(run.afterRestart)]
}
