/** Draws a plan from a seed: several conversations, clients, listeners and faults, small enough to read. Pure (L12). */
import { SeededRandom } from "../SeededRandom.ts"
import type {
  Action,
  Answering,
  BadPage,
  ForkRule,
  ModelEnd,
  ModelPlan,
  Operation,
  Plan,
  Reading,
  StoreFault,
  StorePlan,
  Submission,
  ToolPlan,
} from "./Plan.ts"

/** Ids that clients choose: few, so that they repeat; some look like generated ids. */
const ids = ["a", "b", "c", "0", "1", "7"] as const

/** Draws one response of the model. */
export const modelPlan = (draws: SeededRandom): ModelPlan => ({
  // Sometimes more deltas than a listener's subscription and outbox hold.
  pieces: draws.chance(0.06) ? 90 + draws.below(60) : draws.below(6),
  reasoning: draws.chance(0.2) ? 1 + draws.below(3) : 0,
  pieceMs: draws.pick(0, 0, 0, 1, 100),
  calls: draws.chance(0.45)
    ? Array.from({ length: 1 + draws.below(2) }, () =>
        draws.pick<ToolPlan>(
          "ok",
          "asks",
          "asks",
          "asks",
          "slow",
          "emits",
          "hang",
          "defect",
          "stubborn",
          "stubborn",
        ),
      )
    : [],
  end: draws.pick<ModelEnd>(
    ...(["completed", "completed", "completed", "completed", "completed"] as const),
    ...(["error", "retryable", "retryable", "overflow", "hang", "defect"] as const),
  ),
})

const reading = (draws: SeededRandom): Reading =>
  draws.pick<Reading>(
    { how: "fast" },
    { how: "fast" },
    { how: "slow", ms: 1 + draws.below(200) },
    { how: "dead" },
    { how: "leaves", takes: 1 + draws.below(4) },
  )

const submission = (draws: SeededRandom): Submission =>
  draws.pick<Submission>(
    ...(["input", "input", "input", "input", "input", "input", "turn", "turn"] as const),
    ...(["empty", "big", "context", "unsupported", "compact", "interrupt", "interrupt"] as const),
    draws.chance(0.15) ? "shutdown" : "input",
  )

/** Sometimes with a count beyond the number of messages, sometimes with an invalid count. */
const forkRule = (draws: SeededRandom): ForkRule => {
  const bad = draws.chance(0.1) ? [draws.pick(-1, 0.5)] : []
  return draws.chance(0.5)
    ? { _tag: "DropLastUserMessages", n: bad[0] ?? draws.pick(0, 0, 0, 0, 1, 1, 2, 50) }
    : { _tag: "BeforeUserMessage", nth: bad[0] ?? draws.pick(1, 1, 1, 2, 2, 3, 0, 50) }
}

/** Counts of the texts and listeners that the plan has named so far. */
interface Names {
  texts: number
  listeners: number
}

const answering = (draws: SeededRandom): Answering =>
  draws.pick("approved", "denied", "approved_for_session", "abort", "silent")

const attachment = (draws: SeededRandom, slot: number, names: Names): Action => ({
  do: "attach",
  slot,
  listener: `l${names.listeners++}`,
  ...(draws.chance(0.7) ? { from: draws.pick(0, 0, draws.below(12), 1_000) } : {}),
  maxEvents: draws.pick(4, 16, 1024),
  reading: reading(draws),
  ...(draws.chance(0.5) ? { answering: answering(draws) } : {}),
})

const action = (draws: SeededRandom, slots: number, names: Names): Action => {
  const slot = draws.below(slots)
  const roll = draws.below(100)
  if (roll < 40) {
    return {
      do: "submit",
      slot,
      what: submission(draws),
      whileRunning: draws.pick("queue", "queue", "wait", "wait", "reject", "steer", "interrupt"),
      ...(draws.chance(0.4) ? { id: draws.pick(...ids) } : {}),
      text: `u${names.texts++}.`,
    }
  }
  if (roll < 57) return attachment(draws, slot, names)
  if (roll < 66) {
    return { do: "cancel", slot, ...(draws.chance(0.6) ? {} : { id: draws.pick(...ids, "none") }) }
  }
  if (roll < 70) return { do: "detach", listener: `l${draws.below(names.listeners + 1)}` }
  if (roll < 74) return { do: "get", slot: draws.chance(0.3) ? slots : slot }
  if (roll < 76) return { do: "list" }
  if (roll < 78) return { do: "pages", limit: 1 + draws.below(3), yields: draws.below(20) }
  if (roll < 80) return { do: "remove", slot }
  if (roll < 83) return { do: "create", slot }
  if (roll < 86) return { do: "fork", slot, into: draws.below(slots), rule: forkRule(draws) }
  if (roll < 87) {
    return { do: "badPage", slot, what: draws.pick<BadPage>("garbage", "moved", "limit") }
  }
  if (roll < 91) return { do: "pause", ms: draws.pick(1, 50, 250, 1_500) }
  return { do: "yield", times: 1 + draws.below(30) }
}

/** Most plans keep every conversation in memory; the others evict soon, and their store may fail. */
const storePlan = (draws: SeededRandom, slots: number): StorePlan => {
  const restart = draws.chance(0.3)
  const appendFaults = draws.chance(0.25)
    ? Array.from({ length: 1 + draws.below(2) }, () => ({
        call: draws.below(24),
        how: draws.pick<StoreFault["how"]>("fails", "fails", "stolen", "stolen", "slow", "late"),
      }))
    : []
  if (draws.chance(0.6)) {
    return { idleMs: 600_000, maxLoaded: 1_000, unaudited: [], faults: [], appendFaults, restart }
  }
  return {
    idleMs: draws.pick(300, 1_000, 3_000),
    maxLoaded: draws.pick(1, 2, 3, 1_000, 1_000),
    unaudited: Array.from({ length: slots }, (_, slot) => slot).filter(() => draws.chance(0.8)),
    faults: Array.from({ length: draws.below(5) }, () => ({
      call: draws.below(10),
      how: draws.pick("fails", "fails", "slow", "late"),
    })),
    appendFaults,
    restart,
  }
}

/** Listeners that answer questions from the start: without one, no question is asked. */
const keepersOf = (draws: SeededRandom, slots: number, names: Names): ReadonlyArray<Operation> =>
  Array.from({ length: slots }, (_, slot) => slot)
    .filter(() => draws.chance(0.3))
    .map((slot): Operation => ({
      do: "attach",
      slot,
      listener: `l${names.listeners++}`,
      maxEvents: 1024,
      reading: { how: "fast" },
      answering: answering(draws),
    }))

/** The plan of a seed. */
export const planOf = (seed: number): Plan => {
  // A separate stream: the scheduler's draws start with the seed itself.
  const draws = new SeededRandom(Math.imul(seed + 1, 0x9e3779b1))
  const slots = 1 + draws.below(3)
  const names: Names = { texts: 0, listeners: 0 }
  const operation = (): Operation => ({
    ...action(draws, slots, names),
    ...(draws.chance(0.06) ? { giveUpAfter: draws.below(12) } : {}),
  })
  // Half of the clients start when conversations exist.
  const arrives = (): ReadonlyArray<Operation> =>
    draws.chance(0.5) ? [{ do: "yield", times: 20 + draws.below(60) }] : []
  const clients = Array.from({ length: 1 + draws.below(4) }, () => [
    ...arrives(),
    ...Array.from({ length: 3 + draws.below(10) }, operation),
  ])
  const creates = Array.from({ length: slots }, (_, slot): Operation => ({ do: "create", slot }))
  const [first = [], ...others] = clients
  const keepers = keepersOf(draws, slots, names)
  return {
    seed,
    store: storePlan(draws, slots),
    maxConversations: draws.chance(0.15) ? 1 + draws.below(2) : 8,
    model: Array.from({ length: 1 + draws.below(7) }, () => modelPlan(draws)),
    clients: [
      [...creates, ...keepers, ...first],
      ...others,
      ...(draws.chance(0.08)
        ? [[{ do: "yield", times: 20 + draws.below(300) } as const, { do: "close" } as const]]
        : []),
    ],
  }
}
