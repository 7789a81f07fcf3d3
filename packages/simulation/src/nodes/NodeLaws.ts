/** The laws that every run of several nodes must keep (packages/docs/laws.md), each as a check over the run's history. Pure. */
import type { Violation } from "../Laws.ts"
import {
  followersGetEverything,
  followersKeepUp,
  followersStayAttached,
  lossesAreNoticed,
} from "./laws/NodeFollowing.ts"
import {
  acknowledgedChangesAreStored,
  acknowledgedIsRecorded,
  createdExists,
  forkedOnce,
  logsOnlyGrow,
  logsStayValid,
  oneWriter,
  recordedOnce,
} from "./laws/NodeStorage.ts"
import { endsAreRecorded, errorsHaveCauses, receiptsAgree, waitsEnd } from "./laws/NodeTurnRuns.ts"
import {
  acceptedTurnsEnd,
  answeredOnce,
  logLaws,
  oneAnswerDecides,
  questionsSurvive,
  toolsGetTheOutcome,
  turnsEndAlone,
} from "./laws/NodeTurns.ts"
import { type NodesHistory, nodesHistoryOf } from "./NodeHistory.ts"
import type { NodesRun } from "./NodeWorld.ts"

/** One check of one law. */
export interface NodeLaw {
  readonly law: string
  /** What the check establishes, as a plain sentence. */
  readonly statement: string
  /** Returns one text per violation; empty for a run that keeps the law. */
  readonly check: (history: NodesHistory) => ReadonlyArray<string>
}

/** Every check of a run of several nodes, in no particular order. */
export const nodeLaws: ReadonlyArray<NodeLaw> = [
  ...logLaws,
  { law: "L1", statement: "every action through any node ends once", check: answeredOnce },
  {
    law: "L1",
    statement: "a caller that runs a turn through another node fails only for what a client did",
    check: errorsHaveCauses,
  },
  {
    law: "L4",
    statement: "a follower gets every event once and in order while its conversation moves",
    check: followersGetEverything,
  },
  {
    law: "L4",
    statement: "a follower of a cluster stays attached while its conversation moves",
    check: followersStayAttached,
  },
  {
    law: "L4",
    statement: "a node that has lost a conversation learns it",
    check: lossesAreNoticed,
  },
  {
    law: "L4",
    statement: "a follower gets soon what another node has recorded",
    check: followersKeepUp,
  },
  {
    law: "L5",
    statement: "a turn that any node accepted has one terminal event",
    check: acceptedTurnsEnd,
  },
  { law: "L5", statement: "a turn whose node is lost ends", check: turnsEndAlone },
  {
    law: "L5",
    statement: "a caller that runs a turn through another node gets the end that is recorded",
    check: endsAreRecorded,
  },
  {
    law: "L5",
    statement: "a caller that waits for the end of a turn gets it",
    check: waitsEnd,
  },
  {
    law: "L7",
    statement: "one answer through any node decides a question",
    check: oneAnswerDecides,
  },
  { law: "L7", statement: "a tool gets the outcome that is recorded", check: toolsGetTheOutcome },
  { law: "L7", statement: "a question survives its node", check: questionsSurvive },
  { law: "L10", statement: "a conversation that a node created exists", check: createdExists },
  {
    law: "L10",
    statement: "a message that a node acknowledged is recorded",
    check: acknowledgedIsRecorded,
  },
  {
    law: "L10",
    statement: "a message that two callers send has one receipt",
    check: receiptsAgree,
  },
  { law: "L10", statement: "a message through any nodes is recorded once", check: recordedOnce },
  { law: "L10", statement: "a fork through any node makes one conversation", check: forkedOnce },
  {
    law: "L10",
    statement: "a change of a list that a node acknowledged is stored",
    check: acknowledgedChangesAreStored,
  },
  { law: "L11", statement: "every log is valid after each kill of a node", check: logsStayValid },
  { law: "L11", statement: "a log keeps what it had at a kill", check: logsOnlyGrow },
  {
    law: "L16",
    statement: "only the holder of a valid lease writes, with its own generation",
    check: oneWriter,
  },
]

/** Every violation of a run. */
export const nodesViolationsOf = (run: NodesRun): ReadonlyArray<Violation> => {
  const history = nodesHistoryOf(run)
  return nodeLaws.flatMap(({ check, law, statement }) =>
    check(history).map((what) => ({ law, what: `${statement}: ${what}` })),
  )
}
