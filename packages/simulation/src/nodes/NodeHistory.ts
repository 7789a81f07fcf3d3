/** A trace of several nodes, grouped for the laws: actions with their answers, what each follower got, the logs at the end. Pure. */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { Answer, Entry, EntryOf } from "../trace/Trace.ts"
import type { NodeAction } from "./NodePlan.ts"
import type { NodesRun } from "./NodeWorld.ts"

/** One action of a client; a run that keeps L1 has exactly one answer for it. */
export interface NodeCall {
  /** Index in the trace. */
  readonly at: number
  readonly entry: EntryOf<"nodeCall">
  readonly answers: ReadonlyArray<{
    readonly at: number
    readonly answer: Answer
    /** How often the client asked for it. */
    readonly tries: number
  }>
}

/** One follower from its first attachment on. */
export interface FollowerHistory {
  readonly name: string
  readonly conversation: string
  /** Number of the first event that it wanted. */
  readonly from: number
  /** Every durable event that it got, with the index in the trace. */
  readonly got: ReadonlyArray<{ readonly at: number; readonly event: Event }>
  /** How often it attached. */
  readonly attachments: number
}

/** Everything that the laws check of one run. */
export interface NodesHistory {
  readonly run: NodesRun
  readonly calls: ReadonlyArray<NodeCall>
  readonly followers: ReadonlyArray<FollowerHistory>
}

/** Entries of one kind, with their indices in the trace. */
export const entriesOf = <T extends Entry["at"]>(
  trace: ReadonlyArray<Entry>,
  kind: T,
): ReadonlyArray<{ readonly at: number; readonly entry: EntryOf<T> }> =>
  trace.flatMap((entry, at) =>
    entry.at === kind ? [{ at, entry: entry as unknown as EntryOf<T> }] : [],
  )

const callsOf = (trace: ReadonlyArray<Entry>): ReadonlyArray<NodeCall> => {
  const answers = Map.groupBy(entriesOf(trace, "nodeAnswer"), ({ entry }) => entry.call)
  return entriesOf(trace, "nodeCall").map(({ at, entry }) => ({
    at,
    entry,
    answers: (answers.get(entry.call) ?? []).map((one) => ({
      tries: one.entry.tries,
      at: one.at,
      answer: one.entry.answer,
    })),
  }))
}

const followersOf = (
  trace: ReadonlyArray<Entry>,
  calls: ReadonlyArray<NodeCall>,
): ReadonlyArray<FollowerHistory> => {
  const got = Map.groupBy(entriesOf(trace, "got"), ({ entry }) => entry.follower)
  const attached = Map.groupBy(entriesOf(trace, "following"), ({ entry }) => entry.follower)
  return calls.flatMap(({ entry: { action, conversation } }) =>
    action.do === "follow" && conversation !== undefined
      ? [
          {
            name: action.follower,
            conversation,
            from: action.from,
            got: (got.get(action.follower) ?? []).flatMap(({ at, entry }) =>
              entry.events.map((event) => ({ at, event })),
            ),
            attachments: attached.get(action.follower)?.length ?? 0,
          },
        ]
      : [],
  )
}

/** Groups the trace of a run. */
export const nodesHistoryOf = (run: NodesRun): NodesHistory => {
  const calls = callsOf(run.trace)
  return { run, calls, followers: followersOf(run.trace, calls) }
}

/** The value with which an action was acknowledged; undefined for one that was not. */
export const acknowledged = ({ answers }: NodeCall): { readonly value: unknown } | undefined => {
  const answer = answers[0]?.answer
  return answer?.is === "ok" ? { value: answer.value } : undefined
}

/** Actions of one kind. */
export const actionsOf = <T extends NodeAction["do"]>(
  { calls }: NodesHistory,
  kind: T,
): ReadonlyArray<NodeCall & { readonly action: Extract<NodeAction, { readonly do: T }> }> =>
  calls.flatMap((call) =>
    call.entry.action.do === kind
      ? [
          {
            ...call,
            action: call.entry.action as Extract<NodeAction, { readonly do: T }>,
          },
        ]
      : [],
  )

/** Text of a call for the message of a violation. */
export const describe = ({ answers, entry }: NodeCall): string =>
  `call ${entry.call} ${JSON.stringify(entry.action)}: ${JSON.stringify(answers.map(({ answer }) => answer))}`
