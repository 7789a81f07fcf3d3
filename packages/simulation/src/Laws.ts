/** The laws (design §5) that every simulated run has to keep, each as a check over its story. */
import { answeredOnce, badInputIsTold, receiptsHold, repeatsAreHarmless } from "./laws/Answers.ts"
import { askedAnew, askedWhereAnswered, firstAnswerWins, resolvedOnce } from "./laws/Approvals.ts"
import { nothingLost, numbered } from "./laws/Deliveries.ts"
import { forksBegin } from "./laws/Forks.ts"
import { beginsConfigured, listed } from "./laws/Listing.ts"
import { boundedOutbox, nobodyWaits } from "./laws/Promptness.ts"
import {
  acknowledgedIsThere,
  answersAreRecorded,
  oneWriter,
  receiptsOutlast,
} from "./laws/Durability.ts"
import {
  beginsWithTheRest,
  closesTheCut,
  givesOutputs,
  readAtLast,
  survives,
} from "./laws/Restarts.ts"
import { summariesBelong } from "./laws/Summaries.ts"
import {
  endsOnce,
  endsOrSaysWhy,
  nothingLeft,
  nothingWorksAfter,
  stopsInTime,
} from "./laws/Turns.ts"
import { type History, historyOf } from "./trace/History.ts"
import type { Run } from "./World.ts"

export interface Law {
  readonly law: string
  readonly says: string
  /** What is wrong, one text each. */
  readonly check: (story: History) => ReadonlyArray<string>
}

export const laws: ReadonlyArray<Law> = [
  { law: "L1", says: "answers every operation once and comes to rest", check: answeredOnce },
  { law: "L2", says: "lets follow what a receipt says", check: receiptsHold },
  { law: "L3", says: "begins with session_configured", check: beginsConfigured },
  { law: "L3", says: "is found by all as long as it lives", check: listed },
  { law: "L3", says: "is there at the end, whatever the store does", check: readAtLast },
  { law: "L4", says: "numbers events from 0 without a gap", check: numbered },
  { law: "L4", says: "gives every listener every event once and whole texts", check: nothingLost },
  { law: "L4", says: "gives a fork what its rule keeps", check: forksBegin },
  { law: "L4", says: "begins again with what a crash left", check: beginsWithTheRest },
  { law: "L5", says: "ends every turn once, after everything of it", check: endsOnce },
  { law: "L5", says: "ends every listener after the turn, or says why", check: endsOrSaysWhy },
  { law: "L5", says: "ends what a crash cut off", check: closesTheCut },
  { law: "L5", says: "begins no tool after the end of its turn", check: nothingWorksAfter },
  { law: "L5", says: "summarises in a turn of its own or within one", check: summariesBelong },
  { law: "L6", says: "keeps a bounded outbox per listener", check: boundedOutbox },
  { law: "L6", says: "waits for no listener", check: nobodyWaits },
  { law: "L7", says: "resolves every question once and in time", check: resolvedOnce },
  {
    law: "L7",
    says: "lets the first answer win, and allows nothing without",
    check: firstAnswerWins,
  },
  { law: "L7", says: "asks only where somebody answers", check: askedWhereAnswered },
  { law: "L7", says: "asks who comes to answer what is open", check: askedAnew },
  { law: "L7", says: "asks again what a crash left open", check: survives },
  { law: "L8", says: "leaves nothing at work once closed", check: nothingLeft },
  {
    law: "L13",
    says: "tells what is wrong with bad input, and changes nothing",
    check: badInputIsTold,
  },
  {
    law: "L13",
    says: "takes a submission once however often it is sent",
    check: repeatsAreHarmless,
  },
  { law: "L14", says: "ends what was interrupted in time", check: stopsInTime },
  { law: "L10", says: "loses nothing that it acknowledged", check: acknowledgedIsThere },
  { law: "L10", says: "records an answer before it counts", check: answersAreRecorded },
  { law: "L10", says: "knows what it took before a crash", check: receiptsOutlast },
  { law: "L11", says: "gives what a crash cut off its outputs", check: givesOutputs },
  { law: "L16", says: "lets one writer at a time record", check: oneWriter },
]

export interface Violation {
  readonly law: string
  readonly what: string
}

export const violationsOf = (run: Run): ReadonlyArray<Violation> => {
  const story = historyOf(run)
  const own = laws.flatMap(({ law, says, check }) =>
    check(story).map((what) => ({ law, what: `${says}: ${what}` })),
  )
  return run.reborn === undefined ? own : [...own, ...violationsOf(run.reborn)]
}
