/** The laws for clients without a handshake (revision 2026-07-28 of MCP; packages/docs/laws.md), each as a check over a run. Pure. */
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
  asksOnlyCapableClients,
  boundStates,
  doneOnce,
  validAnswersAreTaken,
  invalidAnswersAreRefused,
  statesEndOnce,
} from "./laws/ContinuedCalls.ts"
import {
  changesAreDelivered,
  responseIsLast,
  eventsOnlyWhereRequested,
  subscriptionsHold,
} from "./laws/Streams.ts"
import { nothingStillRuns, stopsInTime } from "./laws/Cancellations.ts"
import {
  cancelledTasksEnd,
  endsForGood,
  foundByOwner,
  hiddenFromOthers,
  keysAreNew,
} from "./laws/Tasks.ts"
import { codeOf } from "./StatelessMessages.ts"
import { type StatelessHistory, statelessHistoryOf } from "./StatelessHistory.ts"
import type { StatelessRun } from "./StatelessWorld.ts"

interface StatelessLaw {
  readonly law: string
  /** What the check establishes, as a plain sentence. */
  readonly statement: string
  readonly check: (history: StatelessHistory) => ReadonlyArray<string>
}

const each =
  (check: Check) =>
  ({ connections }: StatelessHistory): ReadonlyArray<string> =>
    connections.flatMap((connection) => check(connection))

/** L13: a request that cannot be served gets the error code of the revision, and the server continues. */
const badRequestsAreReported = ({ connections }: StatelessHistory): ReadonlyArray<string> =>
  connections.flatMap(({ received, name, over, plan, sent }) => [
    ...(over?.how === "died" ? [`the server of connection ${name} failed`] : []),
    ...plan.steps.flatMap((step) => {
      if (step.do !== "garbage" || step.what === "batch") return []
      if (sent.filter(({ id, method }) => id === step.id && method !== undefined).length > 1)
        return []
      const answer = received.find((one) => isResponse(one) && one.id === step.id)
      // After a handshake, a request without `_meta` has the revision of the handshake, which has no such method.
      const hasHandshake = step.what === "no meta" && plan.steps.some((one) => one.do === "hello")
      if (hasHandshake && answer?.error?.code === -32601) return []
      return answer === undefined || answer.error?.code === codeOf[step.what]
        ? []
        : [`${step.what} is answered with ${answer.text}`]
    }),
  ])

/** Every check of a run without handshakes. */
export const statelessLaws: ReadonlyArray<StatelessLaw> = [
  { law: "L1", statement: "every request is answered once", check: each(answeredOnce) },
  {
    law: "L1",
    statement: "no cancelled request is answered",
    check: each(silentOnceCancelled(Discover._tag)),
  },
  { law: "L1", statement: "a task that a client knows is kept", check: foundByOwner },
  { law: "L2", statement: "no event follows a response", check: responseIsLast },
  {
    law: "L2",
    statement: "events are sent only where they are requested",
    check: eventsOnlyWhereRequested,
  },
  {
    law: "L2",
    statement: "a subscription sends only between its acknowledgement and its response",
    check: subscriptionsHold,
  },
  { law: "L4", statement: "changes are sent to subscriptions", check: changesAreDelivered },
  {
    law: "L5",
    statement: "the terminal event of a turn is sent once, last",
    check: each(endsOnce),
  },
  { law: "L5", statement: "a task that has ended does not change", check: endsForGood },
  {
    law: "L7",
    statement: "only clients that declared forms are asked",
    check: asksOnlyCapableClients,
  },
  {
    law: "L7",
    statement: "a request state is accepted only for its call and before it expires",
    check: boundStates,
  },
  { law: "L7", statement: "a request state ends one call", check: statesEndOnce },
  { law: "L7", statement: "valid answers are accepted", check: validAnswersAreTaken },
  {
    law: "L7",
    statement: "answers that do not fit their question are refused",
    check: invalidAnswersAreRefused,
  },
  { law: "L7", statement: "only what a client approved is approved", check: approvedByAnswer },
  { law: "L7", statement: "a key names one question only", check: keysAreNew },
  { law: "L8", statement: "nothing runs after the server has closed", check: nothingStillRuns },
  {
    law: "L9",
    statement: "the server ends within its bound after its input",
    check: each(endsInTime),
  },
  {
    law: "L13",
    statement: "a bad request is reported, and the server continues",
    check: badRequestsAreReported,
  },
  { law: "L13", statement: "a task is visible only to its principal", check: hiddenFromOthers },
  { law: "L13", statement: "an action that may be done once is done once", check: doneOnce },
  { law: "L14", statement: "a cancelled call stops in time", check: stopsInTime },
  { law: "L14", statement: "a cancelled task ends", check: cancelledTasksEnd },
]

/** Every violation of a run without handshakes; a run that does not end breaks L1. */
export const statelessViolationsOf = (run: StatelessRun): ReadonlyArray<Violation> => {
  const history = statelessHistoryOf(run)
  return [
    ...(run.end === "done" ? [] : [{ law: "L1", what: `the run is ${run.end}` }]),
    ...statelessLaws.flatMap(({ law, statement, check }) =>
      check(history).map((what) => ({ law, what: `${statement}: ${what}` })),
    ),
  ]
}
