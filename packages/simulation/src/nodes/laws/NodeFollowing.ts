/** L4 over a run of several nodes: what followers get while their conversation moves. Pure. */
import { entriesOf, type FollowerHistory, type NodesHistory } from "../NodeHistory.ts"
import type { NodesRun } from "../NodeWorld.ts"
import type { EntryOf } from "../../trace/Trace.ts"

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

/**
 * Longer than a node that runs and reaches the database takes to renew its leases, or to find that they have expired, also
 * where one renewal is not answered.
 */
const noticedWithinMs = 11_000

/** The faults that last at this moment: while there are any, a node may be unable to learn what it has lost. */
class LastingFaults {
  private readonly begun = new Map<string, number>()

  get size(): number {
    return this.begun.size
  }

  add({ does, node }: EntryOf<"node">): void {
    const isEnd = does.endsWith(" ends")
    const what = isEnd ? does.slice(0, -" ends".length) : does
    if (!isEnd && !["stop", "cut", "slow", "lock", "part", "down"].includes(what)) return
    const name = `${node} ${what}`
    const count = (this.begun.get(name) ?? 0) + (isEnd ? -1 : 1)
    if (count > 0) this.begun.set(name, count)
    else this.begun.delete(name)
  }
}

/**
 * L4: a node that has lost a conversation learns that without a fault to wait for. Until then it takes the next event of a
 * follower for one from the future.
 */
export const lossesAreNoticed = ({ followers, run }: NodesHistory): ReadonlyArray<string> =>
  followers.flatMap(({ got, name }) => {
    const faults = new LastingFaults()
    let sinceMs: number | undefined
    for (const [at, entry] of run.trace.entries()) {
      if (entry.at === "node") faults.add(entry)
      const isOwn = "follower" in entry && entry.follower === name
      if (entry.at === "node" || (entry.at === "got" && isOwn)) sinceMs = undefined
      // Its first event may be one that is not recorded yet.
      if (entry.at !== "unfollowed" || !isOwn || at < (got[0]?.at ?? Infinity)) continue
      const { answer, ms } = entry
      if (answer.is !== "error" || answer.tag !== "EventsFromFuture" || faults.size > 0) continue
      sinceMs ??= ms
      if (ms - sinceMs > noticedWithinMs) {
        return [`${name} is refused from ${sinceMs} ms to ${ms} ms as one from the future`]
      }
    }
    return []
  })

/** Longer than a node takes to find that its leases have expired, and a follower to be attached elsewhere. */
const deliveredWithinMs = 11_000

/**
 * L4: an attached follower gets what any node has recorded within a time, without a fault to wait for: the node that it reads
 * from either has the conversation, or knows that it has not.
 */
export const followersKeepUp = ({ followers, run }: NodesHistory): ReadonlyArray<string> =>
  // In a cluster the faults of calls between nodes take longer, and are not in the trace.
  run.plan.cluster !== undefined
    ? []
    : followers.flatMap(({ conversation, from, name }) => {
        const faults = new LastingFaults()
        let [next, recorded, isAttached] = [from, 0, false]
        let sinceMs: number | undefined
        for (const entry of run.trace) {
          const { ms } = entry
          if (sinceMs !== undefined && ms - sinceMs > deliveredWithinMs) {
            return [`${name} lacks event ${next} from ${sinceMs} ms to ${ms} ms`]
          }
          if (entry.at === "closing") break
          const isOwn = "follower" in entry && entry.follower === name
          if (entry.at === "node") faults.add(entry)
          if (entry.at === "wrote" && entry.conversation === conversation) recorded = entry.events
          if (isOwn) isAttached = entry.at !== "unfollowed"
          if (isOwn && entry.at === "got") next = (entry.events.at(-1)?.seq ?? next) + 1
          const lacks = isAttached && next < recorded && faults.size === 0
          if (!lacks || isOwn || entry.at === "node") sinceMs = undefined
          if (lacks) sinceMs ??= ms
        }
        return []
      })
