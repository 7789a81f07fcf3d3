/** Brings a run of several nodes to rest: every turn ends, every follower reads to the end of its log, and no caller waits for a turn. */
import { isTerminal } from "@colloquy/protocol/EventMsg"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Auditor, Log } from "./Auditor.ts"
import { type NodesContext, operate } from "./NodeClient.ts"
import { type NodesPlan, turnsEnd } from "./NodePlan.ts"
import { askAny } from "./Placement.ts"

/** How long turns get to end by themselves before they are interrupted: longer where each of them must. */
const graceMs = (plan: NodesPlan): number => (turnsEnd(plan) ? 90_000 : 8_000)

/** Time after which a run counts as one that does not come to rest. */
const boundMs = 150_000

const hasOpenTurn = ({ events }: Log): boolean => {
  const started = events.findLast(({ msg }) => msg.type === "task_started")
  if (started === undefined) return false
  return !events.some(
    ({ id, msg, seq }) => id === started.id && seq > started.seq && isTerminal(msg),
  )
}

/** Interrupts the turns of the conversations, through any node. */
const interruptAll = (context: NodesContext, open: ReadonlyArray<Log>) => {
  const numbers = new Map([...context.slots].map(([slot, id]) => [id, slot]))
  return Effect.forEach(
    open,
    ({ id }) => {
      const slot = numbers.get(id) ?? 1_000 + context.slots.size
      context.slots.set(slot, id)
      numbers.set(id, slot)
      return operate(context, "settle", { do: "interrupt", node: 0, slot })
    },
    { concurrency: "unbounded", discard: true },
  )
}

/** Loads the conversations, as any use of them does: one whose node is lost may have no follower. */
const loadAll = (context: NodesContext, open: ReadonlyArray<Log>) =>
  Effect.forEach(
    open,
    ({ id }) =>
      Effect.ignore(
        askAny(context.nodes, {
          first: 0,
          isRepeatable: true,
          tries: () => {},
          // Getting one that the node knows already does not load it.
          use: (manager) => Effect.flatMap(manager.get(id), (found) => found.state),
        }),
      ),
    { concurrency: "unbounded", discard: true },
  )

const unarchiveAll = (context: NodesContext, logs: ReadonlyArray<Log>) =>
  Effect.forEach(logs, ({ archived, id }) => {
    if (!archived) return Effect.void
    const slot = 1_000 + context.slots.size
    context.slots.set(slot, id)
    return operate(context, "settle", { do: "unarchive", node: 0, slot })
  })

/** Resolves when no turn runs or is waited for and the followers have everything, or when the bound has passed. */
export const settle = (context: NodesContext, auditor: Auditor): Effect.Effect<void> =>
  Effect.gen(function* () {
    const startMs = yield* Clock.currentTimeMillis
    const first = [...(yield* auditor.logs).values()]
    for (const { archived, id, name } of first) {
      const conversation = id
      yield* context.recorder.record({
        at: "stored",
        conversation,
        archived,
        ...(name === undefined ? {} : { name }),
      })
    }
    while (true) {
      const logs = [...(yield* auditor.logs).values()]
      // Again each time: a node that was stopped carries out what it was asked for before, when its client has given up.
      yield* unarchiveAll(context, logs)
      const open = logs.filter(hasOpenTurn)
      const isAtRest =
        open.length === 0 &&
        context.turnRuns.areOver &&
        logs.every(({ events, id }) => context.followers.haveAll(id, events.length))
      yield* loadAll(context, open)
      const spentMs = (yield* Clock.currentTimeMillis) - startMs
      if (isAtRest || spentMs > boundMs) return
      if (spentMs > graceMs(context.plan)) yield* interruptAll(context, open)
      yield* Effect.sleep(Duration.seconds(2))
    }
  })
