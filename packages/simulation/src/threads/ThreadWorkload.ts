/** Draws the plan of a run of clients of app-server v2 from a seed. Pure (L12). */
import { SeededRandom } from "../SeededRandom.ts"
import { modelPlan } from "../scenario/Workload.ts"
import type { WireReading } from "../wire/WirePlan.ts"
import type {
  Answers,
  OfThread,
  ThreadClientPlan,
  ThreadGarbage,
  ThreadPlan,
  ThreadStep,
  Whose,
} from "./ThreadPlan.ts"

const whose = (draws: SeededRandom): Whose =>
  draws.pick<Whose>(...(["own", "own", "own", "any", "any", "unknown"] as const))

const garbage = (draws: SeededRandom): ThreadGarbage =>
  draws.pick<ThreadGarbage>(
    ...(["noise", "no method", "no params"] as const),
    ...(["no thread", "empty input", "answer to nothing"] as const),
  )

const ofThread = (draws: SeededRandom): OfThread =>
  draws.pick<OfThread>(
    ...(["interrupt", "interrupt", "interrupt", "resume", "resume", "read", "read"] as const),
    ...(["fork", "forkInMemory", "forkByPath", "compact", "unsubscribe"] as const),
    ...(["archive", "unarchive", "revert"] as const),
  )

const ofQueue = (draws: SeededRandom): OfThread =>
  draws.pick<OfThread>("queueList", "queueDelete", "queueReorder", "queueStart", "queueStart")

const step = (draws: SeededRandom, connection: number, id: number): ThreadStep => {
  const text = `t${connection}.${id}.`
  const roll = draws.below(100)
  if (roll < 8) return { do: "start", id, ephemeral: draws.chance(0.2) }
  if (roll < 10) return { do: "import", id, text }
  if (roll < 31) return { do: "turn", id, text, of: whose(draws) }
  if (roll < 36) return { do: "steer", id, text, of: whose(draws) }
  if (roll < 44) return { do: "queueAdd", id, text, of: whose(draws) }
  if (roll < 46) return { do: "queueUpdate", id, text, of: whose(draws) }
  if (roll < 50) return { do: ofQueue(draws), id, of: whose(draws) }
  if (roll < 52) return { do: "name", id, text, of: whose(draws) }
  if (roll < 73) return { do: ofThread(draws), id, of: whose(draws) }
  if (roll < 75) return { do: "list", id }
  if (roll < 78) return { do: "garbage", id, what: garbage(draws) }
  if (roll < 89) return { do: "pause", ms: draws.pick(1, 50, 250, 1_500) }
  return { do: "yield", times: 1 + draws.below(60) }
}

const reading = (draws: SeededRandom): WireReading =>
  draws.pick<WireReading>(
    ...([{ how: "fast" }, { how: "fast" }, { how: "fast" }, { how: "fast" }] as const),
    { how: "slow", ms: 1 + draws.below(10) },
    { how: "stops", takes: draws.below(8) },
  )

/** Queues input behind a turn, changes the queue, and interrupts the turn, which holds the queue. */
const queueing = (draws: SeededRandom, connection: number): ReadonlyArray<ThreadStep> => {
  const id = 200
  const of = draws.pick<Whose>("own", "own", "any")
  const add = (place: number): ThreadStep => ({
    do: "queueAdd",
    id: id + place,
    text: `t${connection}.${id + place}.`,
    of,
  })
  const wait = (): ThreadStep => ({ do: "yield", times: 1 + draws.below(40) })
  return [
    { do: "turn", id, text: `t${connection}.${id}.`, of },
    wait(),
    ...Array.from({ length: 1 + draws.below(3) }, (_, place) => add(place + 1)),
    wait(),
    { do: "queueUpdate", id: id + 10, text: `t${connection}.${id + 10}.`, of },
    ...(draws.chance(0.7) ? [{ do: "interrupt", id: id + 11, of } as const] : []),
    wait(),
    ...Array.from({ length: draws.below(4) }, (_, place): ThreadStep => ({
      do: draws.chance(0.2) ? "revert" : ofQueue(draws),
      id: id + 12 + place,
      of,
    })),
    { do: "pause", ms: draws.pick(1, 1_500) },
  ]
}

const client = (draws: SeededRandom, connection: number): ThreadClientPlan => {
  const steps: Array<ThreadStep> = [
    { do: "start", id: 1, ephemeral: draws.chance(0.1) },
    { do: "yield", times: 1 + draws.below(60) },
    ...Array.from({ length: 3 + draws.below(12) }, (_, i) => step(draws, connection, i + 2)),
    ...(draws.chance(0.35) ? queueing(draws, connection) : []),
    { do: "pause", ms: draws.pick(1, 250, 1_500) },
    { do: "read", id: 100, of: "own" },
  ]
  return {
    capacity: draws.pick(1, 4, 16, 16),
    reading: reading(draws),
    answers: draws.pick<Answers>(
      ...(["accept", "accept", "acceptForSession", "decline", "cancel"] as const),
      ...(["error", "never"] as const),
    ),
    steps,
    ends: draws.chance(0.8) ? "closes" : "drops",
  }
}

/** The plan of a seed. */
export const threadPlanOf = (seed: number): ThreadPlan => {
  const draws = new SeededRandom(Math.imul(seed + 1, 0x27d4eb2f))
  return {
    seed,
    model: Array.from({ length: 1 + draws.below(5) }, () => modelPlan(draws)),
    connections: Array.from({ length: 1 + draws.below(3) }, (_, i) => client(draws, i)),
    appendFaults: draws.chance(0.15) ? [draws.below(24)] : [],
    storeFaults: draws.chance(0.15) ? [draws.below(12)] : [],
    ...(draws.chance(0.08) ? { stolen: draws.below(24) } : {}),
    processes: draws.chance(0.15) ? 2 : 1,
    restart: draws.chance(0.4),
  }
}
