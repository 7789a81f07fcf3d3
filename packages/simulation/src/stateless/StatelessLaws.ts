/** The laws (design §5) as clients without a handshake see them (2026-07-28), each as a check over a run. Pure. */
import { Discover } from "@colloquy/protocol/mcp/Discover"
import type { Violation } from "../Laws.ts"
import {
  answeredOnce,
  type Check,
  endsInTime,
  endsOnce,
  silentOnceCancelled,
} from "../wire/WireLaws.ts"
import { isResponse } from "../wire/WireHistory.ts"
import {
  approvedByAnswer,
  asksWhoAnswers,
  boundStates,
  doneOnce,
  goodAnswersCount,
  misfitsAreNone,
  statesEndOnce,
} from "./laws/Rounds.ts"
import {
  changesAreTold,
  nothingFollows,
  onlyWhereAsked,
  subscriptionsHold,
} from "./laws/Streams.ts"
import { nothingLeft, stopsInTime } from "./laws/Cancellations.ts"
import { cancelled, endsForGood, foundByOwner, hiddenFromOthers, keysAreNew } from "./laws/Tasks.ts"
import { codeOf } from "./StatelessMessages.ts"
import { type StatelessStory, storyOf } from "./StatelessHistory.ts"
import type { StatelessRun } from "./StatelessWorld.ts"

interface StatelessLaw {
  readonly law: string
  readonly says: string
  readonly check: (story: StatelessStory) => ReadonlyArray<string>
}

const each =
  (check: Check) =>
  ({ connections }: StatelessStory): ReadonlyArray<string> =>
    connections.flatMap((connection) => check(connection))

/** L13: what cannot be served is answered with the code of the revision, and the server goes on. */
const garbageIsTold = ({ connections }: StatelessStory): ReadonlyArray<string> =>
  connections.flatMap(({ heard, name, over, plan, said }) => [
    ...(over?.how === "died" ? [`the server of connection ${name} died`] : []),
    ...plan.steps.flatMap((step) => {
      if (step.say !== "garbage" || step.what === "batch") return []
      if (said.filter(({ id, method }) => id === step.id && method !== undefined).length > 1)
        return []
      const answer = heard.find((one) => isResponse(one) && one.id === step.id)
      // Who shook hands speaks that revision where nothing else is said, and it knows no such method.
      const shook = step.what === "no meta" && plan.steps.some(({ say }) => say === "hello")
      if (shook && answer?.error?.code === -32601) return []
      return answer === undefined || answer.error?.code === codeOf[step.what]
        ? []
        : [`${step.what} is answered with ${answer.text}`]
    }),
  ])

export const statelessLaws: ReadonlyArray<StatelessLaw> = [
  { law: "L1", says: "answers every request once", check: each(answeredOnce) },
  {
    law: "L1",
    says: "answers nothing that was cancelled",
    check: each(silentOnceCancelled(Discover._tag)),
  },
  { law: "L1", says: "keeps a task that it told of", check: foundByOwner },
  { law: "L2", says: "lets nothing follow an answer", check: nothingFollows },
  { law: "L2", says: "tells events where they are asked for", check: onlyWhereAsked },
  { law: "L2", says: "holds a subscription between its two ends", check: subscriptionsHold },
  { law: "L4", says: "tells what changes", check: changesAreTold },
  { law: "L5", says: "tells the end of a turn once, last", check: each(endsOnce) },
  { law: "L5", says: "ends a task for good", check: endsForGood },
  { law: "L7", says: "asks who declared that it answers", check: asksWhoAnswers },
  { law: "L7", says: "takes a state of its call alone, and in time", check: boundStates },
  { law: "L7", says: "lets a state end one call", check: statesEndOnce },
  { law: "L7", says: "takes what it asked for", check: goodAnswersCount },
  { law: "L7", says: "takes nothing else", check: misfitsAreNone },
  { law: "L7", says: "approves what somebody approved", check: approvedByAnswer },
  { law: "L7", says: "never asks two things under one key", check: keysAreNew },
  { law: "L8", says: "leaves nothing at work once closed", check: nothingLeft },
  { law: "L9", says: "ends with its input, within its bound", check: each(endsInTime) },
  { law: "L13", says: "tells what is wrong with a request, and goes on", check: garbageIsTold },
  { law: "L13", says: "hides a task from everybody else", check: hiddenFromOthers },
  { law: "L13", says: "does once what is done once", check: doneOnce },
  { law: "L14", says: "stops what is taken back", check: stopsInTime },
  { law: "L14", says: "ends a task that is cancelled", check: cancelled },
]

export const statelessViolationsOf = (run: StatelessRun): ReadonlyArray<Violation> => {
  const story = storyOf(run)
  return [
    ...(run.end === "done" ? [] : [{ law: "L1", what: `the run is ${run.end}` }]),
    ...statelessLaws.flatMap(({ law, says, check }) =>
      check(story).map((what) => ({ law, what: `${says}: ${what}` })),
    ),
  ]
}
