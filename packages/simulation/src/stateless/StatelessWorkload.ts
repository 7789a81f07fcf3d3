/** Draws the plan of a run of clients without a handshake from a seed. Pure (L12). */
import { SeededRandom } from "../SeededRandom.ts"
import { modelPlan } from "../scenario/Workload.ts"
import type { ModelPlan } from "../scenario/Plan.ts"
import type { WireReading } from "../wire/WirePlan.ts"
import type { Source } from "./StatelessKnown.ts"
import {
  anHourMs,
  type Answering,
  type Declares,
  type OfTask,
  type StatelessClientPlan,
  type StatelessGarbage,
  type StatelessPlan,
  type StatelessStep,
  type StatelessTool,
} from "./StatelessPlan.ts"

const garbage = (draws: SeededRandom): StatelessGarbage =>
  draws.pick<StatelessGarbage>(
    ...(["no meta", "half a meta", "unknown revision", "removed method", "old tasks"] as const),
    ...(["undeclared tasks", "no tool", "batch", "bad cursor"] as const),
  )

const declares = (draws: SeededRandom, tasks: number): Declares => ({
  forms: draws.chance(0.92),
  tasks: draws.chance(tasks),
  events: draws.chance(0.6),
})

const answering = (draws: SeededRandom): Answering =>
  draws.pick<Answering>(
    ...(["yes", "yes", "yes", "yes", "yes", "no", "no"] as const),
    ...(["wrong", "half", "nothing", "tampered", "elsewhere"] as const),
  )

/** A step without its id, which is its index. */
type Drawn = StatelessStep extends infer S ? (S extends unknown ? Omit<S, "id"> : never) : never

const wait = (draws: SeededRandom): Drawn =>
  draws.chance(0.3)
    ? { do: "yield", times: 1 + draws.below(80) }
    : { do: "pause", ms: draws.pick(1, 20, 50, 250, 250, 500, 1_000) }

/** Cancels the request that is `back` steps before step `next`. */
const cancel = (next: number, back: number): Drawn & { readonly id: number } => ({
  do: "cancel",
  id: Math.max(0, next - back),
})

type Flow = (draws: SeededRandom, connection: number, next: number) => ReadonlyArray<Drawn>

/** A call, and the client's answers to its questions. */
const converse: Flow = (draws, connection, next) => {
  const tool = draws.pick<StatelessTool>("codex", "codex", "codex", "form", "form", "long")
  const steps: Array<Drawn> = [
    { do: "call", tool, text: `s${connection}.${next}.`, declares: declares(draws, 0.1) },
  ]
  const rounds = draws.below(4)
  for (let round = 0; round < rounds; round++) {
    if (draws.chance(0.12)) steps.push(cancel(next + steps.length, 1), { do: "discover" })
    steps.push(wait(draws))
    if (draws.chance(0.12)) steps.push(cancel(next + steps.length, 2), { do: "discover" })
    if (draws.chance(0.04)) steps.push({ do: "pause", ms: anHourMs + 100_000 })
    const of = draws.pick<Source>("own", "own", "own", "own", "before", "any")
    const how = answering(draws)
    steps.push({ do: "answer", of, how })
    // Another answer to the same question at the same time.
    if (draws.chance(0.2)) steps.push({ do: "answer", of, how: draws.chance(0.5) ? how : "no" })
  }
  if (draws.chance(0.3)) steps.push(cancel(next + steps.length, 1), { do: "discover" })
  return [...steps, wait(draws)]
}

/** A call that becomes a task, and requests about the task. */
const delegate: Flow = (draws, connection, next) => {
  const tool = draws.pick<StatelessTool>("codex", "long", "long")
  const steps: Array<Drawn> = [
    { do: "call", tool, text: `s${connection}.${next}.`, declares: declares(draws, 0.95) },
  ]
  if (draws.chance(0.4)) {
    steps.push(wait(draws), { do: "listen", tools: false, resource: false, task: true })
  }
  const rounds = 1 + draws.below(6)
  for (let round = 0; round < rounds; round++) {
    steps.push(wait(draws))
    const does = draws.pick<OfTask>("get", "get", "get", "cancel", "yes", "yes", "wrong")
    steps.push({ do: "task", does, of: draws.pick("own", "own", "own", "any", "unknown") })
    if (does !== "get") steps.push(wait(draws), { do: "task", does: "get", of: "own" })
    if (draws.chance(0.03)) steps.push({ do: "pause", ms: anHourMs + 100_000 })
  }
  return steps
}

/** A subscription, and changes while it is open. */
const follow: Flow = (draws, _, next) => {
  const [tools, resource] = [draws.chance(0.6), draws.chance(0.6)]
  const steps: Array<Drawn> = [
    { do: "listen", tools, resource, task: draws.chance(0.4) },
    wait(draws),
  ]
  for (let change = draws.below(4); change > 0; change--) {
    steps.push({ do: "change", what: draws.pick("tools", "resource") }, wait(draws))
  }
  if (draws.chance(0.4)) steps.push(cancel(next, 0), wait(draws), { do: "discover" })
  return steps
}

const odd: Flow = (draws, _, next) => {
  const roll = draws.below(10)
  if (roll < 5) return [{ do: "garbage", what: garbage(draws) }]
  if (roll < 6) return [{ do: "hello" }]
  if (roll < 7) return [cancel(next, 1 + draws.below(8))]
  // The id of a request that may still be served.
  if (roll < 8) return [{ do: "discover", id: draws.below(Math.max(1, next)) } as Drawn]
  return [{ do: "discover" }]
}

const steps = (draws: SeededRandom, connection: number): ReadonlyArray<StatelessStep> => {
  const all: Array<StatelessStep> = []
  for (let flows = 1 + draws.below(4); flows > 0; flows--) {
    const flow = draws.pick(converse, converse, converse, delegate, delegate, follow, odd)
    const drawn = flow(draws, connection, all.length)
    for (const step of drawn) all.push({ id: all.length, ...step } as StatelessStep)
  }
  return [...all, { do: "discover", id: all.length }]
}

const reading = (draws: SeededRandom): WireReading =>
  draws.pick<WireReading>(
    ...([{ how: "fast" }, { how: "fast" }, { how: "fast" }, { how: "fast" }] as const),
    { how: "slow", ms: 1 + draws.below(50) },
    { how: "stops", takes: draws.below(5) },
  )

const client = (draws: SeededRandom, connection: number): StatelessClientPlan => ({
  principal: draws.pick("alice", "alice", "bob"),
  capacity: draws.pick(1, 4, 16, 16),
  reading: reading(draws),
  steps: steps(draws, connection),
  ends: draws.chance(0.85) ? "closes" : "drops",
})

/** A response of the model; half of them ask a question. */
const asking = (draws: SeededRandom): ModelPlan => {
  const plan = modelPlan(draws)
  return draws.chance(0.5) ? { ...plan, calls: ["asks", ...plan.calls], end: "completed" } : plan
}

/** The plan of a seed. */
export const statelessPlanOf = (seed: number): StatelessPlan => {
  const draws = new SeededRandom(Math.imul(seed + 1, 0xc2b2ae35))
  return {
    seed,
    model: Array.from({ length: 1 + draws.below(4) }, () => asking(draws)),
    sealing: { yields: draws.pick(0, 1, 4, 20), ms: draws.pick(0, 0, 0, 5, 300) },
    connections: Array.from({ length: 1 + draws.below(3) }, (_, i) => client(draws, i)),
  }
}
