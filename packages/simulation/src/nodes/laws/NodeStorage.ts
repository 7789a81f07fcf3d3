/** L10, L11 and L16 over a run of several nodes: what is recorded, and by whom. Pure. */
import {
  acknowledged,
  actionsOf,
  describe,
  entriesOf,
  type NodeCall,
  type NodesHistory,
} from "../NodeHistory.ts"

/** L10: a conversation that was created or forked exists. */
export const createdExists = ({ run }: NodesHistory): ReadonlyArray<string> =>
  run.end === "done"
    ? entriesOf(run.trace, "made").flatMap(({ entry: { conversation } }) =>
        run.logs.has(conversation) ? [] : [`${conversation} was created, and does not exist`],
      )
    : []

const timesOf = ({ run }: NodesHistory, call: NodeCall, text: string): number =>
  (run.logs.get(call.entry.conversation ?? "")?.events ?? []).filter(
    ({ msg }) => msg.type === "user_message" && msg.message === text,
  ).length

/** L10: a message that was acknowledged is recorded, unless it waited and was dropped with its turn. */
export const acknowledgedIsRecorded = (history: NodesHistory): ReadonlyArray<string> =>
  actionsOf(history, "send").flatMap((call) => {
    const receipt = acknowledged(call)?.value as {
      readonly id: string
      readonly disposition: string
    }
    if (receipt === undefined || history.run.end !== "done") return []
    if (timesOf(history, call, call.action.text) > 0) return []
    const events = history.run.logs.get(call.entry.conversation ?? "")?.events ?? []
    const isDropped =
      receipt.disposition === "waiting" &&
      events.some(({ id, msg }) => id === receipt.id && msg.type === "turn_aborted")
    return isDropped ? [] : [`acknowledged, but not recorded: ${describe(call)}`]
  })

/** L10: a message is recorded at most once, however often it was sent. */
export const recordedOnce = (history: NodesHistory): ReadonlyArray<string> =>
  actionsOf(history, "send").flatMap((call) => {
    const times = timesOf(history, call, call.action.text)
    return times <= 1 ? [] : [`recorded ${times} times: ${describe(call)}`]
  })

/** L10: a fork makes one conversation, however often its node asks the owner of the other one for it. */
export const forkedOnce = (history: NodesHistory): ReadonlyArray<string> => {
  const { logs } = history.run
  const asked = Map.groupBy(actionsOf(history, "fork"), ({ entry }) => entry.conversation)
  return [...asked].flatMap(([source, calls]) => {
    const tries = calls.map(({ answers }) => answers[0]?.tries ?? Infinity)
    const atMost = tries.reduce((sum, one) => sum + one, 0)
    const copies = [...logs.values()].filter(({ forkedFrom }) => forkedFrom === source).length
    return source === undefined || copies <= atMost
      ? []
      : [`${source} has ${copies} copies, and ${atMost} were asked for`]
  })
}

/** The last of the acknowledged calls, if no other call may have come after it. */
const lastOf = <C extends NodeCall>(calls: ReadonlyArray<C>): C | undefined => {
  const last = calls
    .filter((call) => acknowledged(call) !== undefined)
    .toSorted((a, b) => a.at - b.at)
    .at(-1)
  const isLast =
    last !== undefined &&
    calls.every((call) => call === last || (call.answers[0]?.at ?? Infinity) < last.at)
  // An earlier call without a known result may be carried out late, and so may each of its tries but the last.
  const areKnown = calls.every(
    (call) => call === last || (acknowledged(call) !== undefined && call.answers[0]?.tries === 1),
  )
  return isLast && areKnown ? last : undefined
}

/** L10: the name and the archive mark that were acknowledged last are stored. */
export const acknowledgedChangesAreStored = (history: NodesHistory): ReadonlyArray<string> => {
  const marks = [...actionsOf(history, "archive"), ...actionsOf(history, "unarchive")].filter(
    ({ entry }) => entry.client !== "settle",
  )
  const renames = actionsOf(history, "rename")
  return entriesOf(history.run.trace, "stored").flatMap(({ entry }) => {
    const of = <C extends NodeCall>(calls: ReadonlyArray<C>) =>
      lastOf(calls.filter((call) => call.entry.conversation === entry.conversation))
    const [mark, rename] = [of(marks), of(renames)]
    return [
      ...(mark === undefined || entry.archived === (mark.action.do === "archive")
        ? []
        : [`archived is ${entry.archived} after ${describe(mark)}`]),
      ...(rename === undefined || entry.name === rename.action.name
        ? []
        : [`its name is ${entry.name} after ${describe(rename)}`]),
    ]
  })
}

/** L11: after each kill every log is valid. */
export const logsStayValid = ({ run }: NodesHistory): ReadonlyArray<string> =>
  entriesOf(run.trace, "log").flatMap(({ entry: { conversation, fault } }) =>
    fault === undefined ? [] : [`${conversation} after a kill: ${fault}`],
  )

/** L11: a log never loses an event that it had. */
export const logsOnlyGrow = ({ run }: NodesHistory): ReadonlyArray<string> =>
  entriesOf(run.trace, "log").flatMap(({ entry: { conversation, events } }) =>
    run.end !== "done" || (run.logs.get(conversation)?.events.length ?? 0) >= events
      ? []
      : [
          `${conversation} had ${events} events, and has ${run.logs.get(conversation)?.events.length}`,
        ],
  )

/** L16: only the holder of a lease that is valid writes, with the generation that it got; each generation has one writer. */
export const oneWriter = ({ run }: NodesHistory): ReadonlyArray<string> => {
  const latest = new Map<string, { readonly generation: number; readonly process: string }>()
  return entriesOf(run.trace, "wrote").flatMap(({ entry }) => {
    const { conversation, generation, how, process } = entry
    const before = latest.get(conversation)
    latest.set(conversation, { generation, process })
    const writer = `${process} (generation ${generation}) writes ${conversation}`
    if (how !== undefined) return [`${writer} ${how}`]
    if (before === undefined) return []
    if (generation < before.generation) return [`${writer} after generation ${before.generation}`]
    return generation === before.generation && process !== before.process
      ? [`${writer}, and so does ${before.process}`]
      : []
  })
}
