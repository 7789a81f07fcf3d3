/** L7 and L13 for questions without a handshake: a question ends the call, and the client sends its state back with the answers. Pure. */
import { at } from "../StatelessKnown.ts"
import { isError, resultType, type StatelessHistory, type ToolCall } from "../StatelessHistory.ts"

const declares = ({ asked }: ToolCall, ...path: ReadonlyArray<string>) =>
  at(asked, "params", "_meta", "io.modelcontextprotocol/clientCapabilities", ...path) !== undefined

const named = ({ asked, connection }: ToolCall) => `${connection.name}/${String(asked.id)}`

/** L7: a client that did not declare forms is not asked, and a client that did not declare tasks gets none. */
export const asksOnlyCapableClients = ({ calls }: StatelessHistory): ReadonlyArray<string> =>
  calls.flatMap((call) => [
    ...(resultType(call.answer) === "input_required" && !declares(call, "elicitation")
      ? [`call ${named(call)} is asked, but declared no forms`]
      : []),
    ...(resultType(call.answer) === "task" &&
    !declares(call, "extensions", "io.modelcontextprotocol/tasks")
      ? [`call ${named(call)} became a task, but declared none`]
      : []),
  ])

/** L7: a request state is valid only for its call and its principal, and before it expires. */
export const boundStates = ({ calls }: StatelessHistory): ReadonlyArray<string> =>
  calls.flatMap((call) =>
    call.isGood || call.answer === undefined || isError(call.answer, -32602)
      ? []
      : [`call ${named(call)} with an invalid state is answered ${call.answer.text}`],
  )

/** True for a call that was answered with the output of its tool. */
const isDone = ({ answer }: ToolCall) =>
  resultType(answer) === "complete" && at(answer, "result", "isError") !== true

/** L7: one state ends one call of a tool without a conversation. */
export const statesEndOnce = ({ calls }: StatelessHistory): ReadonlyArray<string> => {
  const brought = Map.groupBy(
    calls.filter(({ state, tool }) => state !== undefined && tool !== "codex"),
    ({ state }) => state,
  )
  return [...brought.values()].flatMap((same) => {
    const done = same.filter(isDone)
    return done.length <= 1 ? [] : [`one state ended the calls ${done.map(named).join(", ")}`]
  })
}

/** L7: a valid answer in time is accepted, unless its state has already been used. */
export const validAnswersAreTaken = ({ calls }: StatelessHistory): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    const { answer, isGood, state } = call
    if (state === undefined || !isGood || !isError(answer, -32602)) return []
    // The state can be used again after a request that was only answered with the questions again.
    const busy = calls.some(
      (other) =>
        other !== call &&
        other.state === state &&
        !(
          resultType(other.answer) === "input_required" &&
          (other.answer?.at ?? Infinity) < call.asked.at
        ),
    )
    return busy && call.tool !== "codex"
      ? []
      : [`call ${named(call)} carries a valid answer and is answered ${answer?.text}`]
  })

/** L7: an answer that does not fit its question is refused. */
export const invalidAnswersAreRefused = ({ calls }: StatelessHistory): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    const { asked, state } = call
    const responses = Object.values(at(asked, "params", "inputResponses") ?? {})
    const misfits = responses.some((one) => at(one, "content", "name") === 7)
    return state !== undefined && call.tool !== "codex" && misfits && isDone(call)
      ? [`call ${named(call)} ends with an answer that does not fit its question`]
      : []
  })

/** L13: an action that may be done once is done once, however often a call is repeated. */
export const doneOnce = ({ run }: StatelessHistory): ReadonlyArray<string> => {
  const times = Map.groupBy(
    run.trace.flatMap((entry) => (entry.at === "ran" && entry.does === "once" ? [entry] : [])),
    ({ text }) => text,
  )
  return [...times].flatMap(([text, all]) =>
    all.length === 1
      ? []
      : [`the action that call ${text} may do once was done ${all.length} times`],
  )
}

/** L7: a question is approved only after a client of its principal sent an approval, in a call or in an update of its task. */
export const approvedByAnswer = ({ calls, connections, conversations, run }: StatelessHistory) =>
  run.trace.flatMap((entry, place) => {
    if (entry.at !== "verdict" || !entry.decision.startsWith("approved")) return []
    const text = [...conversations].find(([, id]) => id === entry.conversation)?.[0]
    const maker = calls.find((call) => call.text === text && call.state === undefined)
    const yes = connections.some(
      ({ plan, sent }) =>
        plan.principal === maker?.connection.plan.principal &&
        sent.some(
          (message) =>
            message.at < place &&
            Object.values(at(message, "params", "inputResponses") ?? {}).some(
              (answer) => at(answer, "content", "decision") === "approved",
            ),
        ),
    )
    return yes ? [] : [`question ${entry.question} is approved, but no client approved it`]
  })
