/** L1, L5 and L7 over a run of several nodes: how actions, turns and questions end. Pure. */
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { eventLaws } from "../../EventLaws.ts"
import { acknowledged, actionsOf, describe, entriesOf, type NodesHistory } from "../NodeHistory.ts"
import { turnsEnd } from "../NodePlan.ts"

/** L1: the run ends, and every action has one answer, which is no defect. */
export const answeredOnce = ({ calls, run }: NodesHistory): ReadonlyArray<string> => [
  ...(run.end === "done" ? [] : [`the run is ${run.end}`]),
  ...calls.flatMap((call) =>
    (call.answers.length === 1 && call.answers[0]?.answer.is !== "died") || run.end !== "done"
      ? []
      : [describe(call)],
  ),
]

/** Each check of a log, for the logs of a run. */
export const logLaws = eventLaws.map(({ check, law, statement }) => ({
  law,
  statement: `${statement}, whichever nodes wrote it`,
  check: ({ run }: NodesHistory): ReadonlyArray<string> =>
    [...run.logs.values()].flatMap(({ events, id }) =>
      check(events).map((what) => `${id}: ${what}`),
    ),
}))

/** What a submission was acknowledged with. */
interface Receipt {
  readonly id: string
  readonly disposition: string
}

/** L5: a turn that was acknowledged has one terminal event. */
export const acceptedTurnsEnd = (history: NodesHistory): ReadonlyArray<string> =>
  actionsOf(history, "send").flatMap((call) => {
    const receipt = acknowledged(call)?.value as Receipt | undefined
    const log = history.run.logs.get(call.entry.conversation ?? "")
    if (receipt === undefined || log === undefined || receipt.disposition === "none") return []
    const ends = log.events.filter(({ id, msg }) => id === receipt.id && isTerminal(msg)).length
    return ends === 1 ? [] : [`${ends} terminal events of ${receipt.id}: ${describe(call)}`]
  })

/** L5: a turn that takes no time of its own for ever ends without an interrupt, on whichever node. */
export const turnsEndAlone = ({ calls, run: { plan } }: NodesHistory): ReadonlyArray<string> =>
  turnsEnd(plan)
    ? calls.flatMap(({ entry: { action, client, conversation } }) =>
        client === "settle" && action.do === "interrupt"
          ? [`a turn of ${conversation} has not ended after all that it waited for`]
          : [],
      )
    : []

const resolutionOf = ({ run }: NodesHistory, conversation: string, question: string) => {
  const events = run.logs.get(conversation)?.events ?? []
  const found = events.find(
    ({ msg }) => msg.type === "approval_resolved" && msg.call_id === question,
  )?.msg
  return found?.type === "approval_resolved" ? found : undefined
}

/** L7: one answer to a question is accepted, through whichever node it came; it is the outcome that is recorded. */
export const oneAnswerDecides = (history: NodesHistory): ReadonlyArray<string> => {
  const accepted = Map.groupBy(
    entriesOf(history.run.trace, "replied").filter(({ entry }) => entry.answer.is === "ok"),
    ({ entry }) => `${entry.conversation} ${entry.question}`,
  )
  return [...accepted.values()].flatMap((replies) => {
    const [first] = replies
    if (first === undefined) return []
    const { conversation, decision, question } = first.entry
    const outcome = resolutionOf(history, conversation, question)
    return [
      ...(replies.length === 1 ? [] : [`${question} is answered ${replies.length} times`]),
      ...(outcome?.decision === decision && outcome.reason === "answered"
        ? []
        : [
            `${question} is answered ${decision}, but resolved as ${outcome?.decision} (${outcome?.reason})`,
          ]),
    ]
  })
}

/** L7: a tool gets the answer that is recorded, and not before that. */
export const toolsGetTheOutcome = (history: NodesHistory): ReadonlyArray<string> =>
  entriesOf(history.run.trace, "verdict").flatMap(({ entry }) => {
    const { conversation, decision, question, reason } = entry
    if (reason !== "answered") return []
    const outcome = resolutionOf(history, conversation, question)
    return outcome?.decision === decision
      ? []
      : [`the tool of ${question} gets ${decision}, but recorded is ${outcome?.decision}`]
  })

/** True when a client asked to stop something in the conversation before this place of the trace. */
const wasStopped = (
  { calls, run: { trace } }: NodesHistory,
  conversation: string,
  before: number,
): boolean =>
  calls.some(
    ({ at, entry: { action, conversation: of } }) =>
      of === conversation &&
      at < before &&
      (action.do === "interrupt" ||
        action.do === "archive" ||
        (action.do === "send" && action.whileRunning === "interrupt")),
  ) ||
  trace.some(
    (entry, at) =>
      at < before &&
      entry.at === "nodeCall" &&
      entry.action.do === "follow" &&
      entry.action.answering === "abort" &&
      entry.conversation === conversation,
  )

/** True when a client archived the conversation, which ends it in an orderly way. */
const isArchived = ({ calls }: NodesHistory, conversation: string): boolean =>
  calls.some(({ entry }) => entry.conversation === conversation && entry.action.do === "archive")

/** L7: a question ends by an answer, its deadline, a request to stop, or an orderly end: the loss of a node does not end it. */
export const questionsSurvive = (history: NodesHistory): ReadonlyArray<string> => {
  const { followers, run } = history
  const drains = run.plan.faults.some((fault) => fault.do === "drain")
  return [...run.logs.values()].flatMap(({ events, forkedFrom, id }) =>
    events.flatMap(({ msg, seq }) => {
      // A fork leaves out the turn that runs, with its questions.
      if (msg.type !== "approval_resolved" || forkedFrom !== undefined) return []
      const allowed =
        msg.decision.startsWith("approved") && !["answered", "granted"].includes(msg.reason)
      const seen = followers.flatMap(({ conversation, got }) =>
        conversation === id ? got.flatMap(({ at, event }) => (event.seq === seq ? [at] : [])) : [],
      )
      const lost =
        (msg.reason === "withdrawn" &&
          !wasStopped(history, id, Math.min(...seen, run.trace.length))) ||
        (msg.reason === "shutdown" && !drains && !isArchived(history, id))
      return [
        ...(allowed ? [`${msg.call_id} is ${msg.decision} (${msg.reason}) without an answer`] : []),
        ...(lost ? [`${msg.call_id} of ${id} is ${msg.reason}, but no client stopped it`] : []),
      ]
    }),
  )
}
