/** What becomes of questions and their answers where a question ends the call and its state goes with the client. Pure. */
import { at } from "../StatelessKnown.ts"
import { isError, resultType, type StatelessStory, type ToolCall } from "../StatelessHistory.ts"

const declares = ({ asked }: ToolCall, ...path: ReadonlyArray<string>) =>
  at(asked, "params", "_meta", "io.modelcontextprotocol/clientCapabilities", ...path) !== undefined

const named = ({ asked, connection }: ToolCall) => `${connection.name}/${String(asked.id)}`

/** L7: who did not say that it answers is asked nothing, and gets no task that it did not say it takes. */
export const asksWhoAnswers = ({ calls }: StatelessStory): ReadonlyArray<string> =>
  calls.flatMap((call) => [
    ...(resultType(call.answer) === "input_required" && !declares(call, "elicitation")
      ? [`call ${named(call)} is asked, and declared no forms`]
      : []),
    ...(resultType(call.answer) === "task" &&
    !declares(call, "extensions", "io.modelcontextprotocol/tasks")
      ? [`call ${named(call)} is a task, and declared none`]
      : []),
  ])

/** L7: a state is good for its call alone, for who got it, and in time. */
export const boundStates = ({ calls }: StatelessStory): ReadonlyArray<string> =>
  calls.flatMap((call) =>
    call.isGood || call.answer === undefined || isError(call.answer, -32602)
      ? []
      : [`call ${named(call)} with a state that is none of it is answered ${call.answer.text}`],
  )

/** Answered with what its tool gives. */
const isDone = ({ answer }: ToolCall) =>
  resultType(answer) === "complete" && at(answer, "result", "isError") !== true

/** L7: one state ends one call of a tool that keeps no state of its own. */
export const statesEndOnce = ({ calls }: StatelessStory): ReadonlyArray<string> => {
  const brought = Map.groupBy(
    calls.filter(({ state, tool }) => state !== undefined && tool !== "codex"),
    ({ state }) => state,
  )
  return [...brought.values()].flatMap((same) => {
    const done = same.filter(isDone)
    return done.length <= 1 ? [] : [`one state ended the calls ${done.map(named).join(", ")}`]
  })
}

/** L7: what came in good shape and in time is not refused, but when its state was used already. */
export const goodAnswersCount = ({ calls }: StatelessStory): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    const { answer, isGood, state } = call
    if (state === undefined || !isGood || !isError(answer, -32602)) return []
    // It is free again after a round that only asked again.
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
      : [`call ${named(call)} brought what it was asked for and is answered ${answer?.text}`]
  })

/** L7: an answer that does not fit its question is none. */
export const misfitsAreNone = ({ calls }: StatelessStory): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    const { asked, state } = call
    const responses = Object.values(at(asked, "params", "inputResponses") ?? {})
    const misfits = responses.some((one) => at(one, "content", "name") === 7)
    return state !== undefined && call.tool !== "codex" && misfits && isDone(call)
      ? [`call ${named(call)} ends with what it was not asked for`]
      : []
  })

/** L13: what is done once is done once, however often a call comes back. */
export const doneOnce = ({ run }: StatelessStory): ReadonlyArray<string> => {
  const times = Map.groupBy(
    run.trace.flatMap((entry) => (entry.at === "ran" && entry.does === "once" ? [entry] : [])),
    ({ text }) => text,
  )
  return [...times].flatMap(([text, all]) =>
    all.length === 1 ? [] : [`what call ${text} does once was done ${all.length} times`],
  )
}

/** L7: nothing is approved that nobody who may answer said yes to before, in a call or an update of its task. */
export const approvedByAnswer = ({ calls, connections, conversations, run }: StatelessStory) =>
  run.trace.flatMap((entry, place) => {
    if (entry.at !== "verdict" || !entry.decision.startsWith("approved")) return []
    const text = [...conversations].find(([, id]) => id === entry.conversation)?.[0]
    const maker = calls.find((call) => call.text === text && call.state === undefined)
    const yes = connections.some(
      ({ plan, said }) =>
        plan.principal === maker?.connection.plan.principal &&
        said.some(
          (message) =>
            message.at < place &&
            Object.values(at(message, "params", "inputResponses") ?? {}).some(
              (answer) => at(answer, "content", "decision") === "approved",
            ),
        ),
    )
    return yes ? [] : [`question ${entry.question} is approved, and nobody said so`]
  })
