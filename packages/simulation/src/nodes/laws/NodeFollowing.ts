/** L4 over a run of several nodes: what followers get while their conversation moves. Pure. */
import { entriesOf, type FollowerHistory, type NodesHistory } from "../NodeHistory.ts"
import type { NodesRun } from "../NodeWorld.ts"

const faultsOf = ({ got, name, from, conversation }: FollowerHistory, { logs }: NodesRun) => {
  const log = logs.get(conversation)?.events
  if (log === undefined) return [`${name}: ${conversation} has no log`]
  const wrong = got.findIndex(({ event }, i) => event.seq !== from + i)
  if (wrong !== -1) {
    return [`${name}: event ${got[wrong]?.event.seq} where ${from + wrong} is next`]
  }
  const other = got.find(({ event }) => JSON.stringify(event) !== JSON.stringify(log[event.seq]))
  if (other !== undefined) {
    const { event } = other
    return [
      `${name}: event ${event.seq} is ${event.msg.type}, in the log ${log[event.seq]?.msg.type}`,
    ]
  }
  const end = from + got.length
  // What the nodes record when they are drained comes after the followers have ended.
  const rest = log.slice(end).filter(({ msg }) => msg.type !== "shutdown_complete")
  return rest.length === 0 || from >= log.length
    ? []
    : [`${name}: has events up to ${end} of ${log.length}`]
}

/** L4: a follower gets every durable event once and in order, through whichever nodes it reads. */
export const followersGetEverything = ({ followers, run }: NodesHistory): ReadonlyArray<string> =>
  run.end === "done" ? followers.flatMap((follower) => faultsOf(follower, run)) : []

/** L4: a follower of a cluster stays attached while its conversation moves: no node ends it because another one took over. */
export const followersStayAttached = ({ run }: NodesHistory): ReadonlyArray<string> =>
  run.plan.cluster === undefined
    ? []
    : entriesOf(run.trace, "unfollowed").flatMap(({ entry: { answer, follower } }) =>
        answer.is === "error" && answer.reason?.includes("was taken over by another writer")
          ? [`${follower} is ended: ${answer.reason}`]
          : [],
      )
