/**
 * Runs a plan on several nodes over one database, and returns the trace. Each node is the ordinary manager over the ordinary
 * SQL store, alone or of a cluster; only the database's clock, the network and the processes are simulated. When the clients have finished and every
 * fault has ended, all turns are brought to their end, the followers read to the end of their logs, and the nodes are drained.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Scheduler from "effect/Scheduler"
import { scriptedModel, scriptedTools } from "../faults/ScriptedModel.ts"
import { killGraceMs } from "../scenario/Plan.ts"
import { simulate } from "../Simulate.ts"
import { SimulatedClock } from "../SimulatedClock.ts"
import type { Entry } from "../trace/Trace.ts"
import { Auditor, type Log } from "./Auditor.ts"
import { Cluster } from "./cluster/Cluster.ts"
import { Database } from "./Database.ts"
import { Followers } from "./Followers.ts"
import type { Ground } from "./Machine.ts"
import { Node } from "./Node.ts"
import type { Surroundings } from "./Process.ts"
import { type NodesContext, runClients } from "./NodeClient.ts"
import { heal, runFaults } from "./NodeFaults.ts"
import type { NodesPlan } from "./NodePlan.ts"
import { NodeRecorder } from "./NodeRecorder.ts"
import { settle } from "./Settle.ts"
import { TurnRuns } from "./TurnRuns.ts"
import { witness } from "./Witness.ts"

/** What a run recorded. */
export interface NodesRun {
  readonly plan: NodesPlan
  readonly trace: ReadonlyArray<Entry>
  /** `done`, or the reason why the run did not end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
  /** The logs at the end, as the store reads them. */
  readonly logs: ReadonlyMap<string, Log>
}

const settingsOf = ({ deadlineMs, onRestart }: NodesPlan): ConversationSettings =>
  scriptedSettings(
    {
      killGrace: Duration.millis(killGraceMs),
      approvalDeadline: Duration.millis(deadlineMs),
      // A question waits for a client wherever that is attached.
      unattended: "park",
      onRestart,
    },
    { streamMaxRetries: 1 },
  )

/** The scheduler and the clock of the simulation that runs this effect. */
const ground: Effect.Effect<Ground> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  if (!(clock instanceof SimulatedClock)) return yield* Effect.die(new Error("no simulation"))
  return { clock, scheduler: yield* Scheduler.Scheduler }
})

/** What a run leaves while it goes on, so that one that does not end can be looked at. */
interface Left {
  recorder: NodeRecorder | undefined
  logs: ReadonlyMap<string, Log>
}

const contextOf = (
  plan: NodesPlan,
  base: Ground,
  context: Context.Context<never>,
): NodesContext => {
  const recorder = new NodeRecorder(base)
  const surroundings: Surroundings = {
    seed: plan.seed,
    ground: base,
    context,
    database: new Database(base, witness(recorder, base)),
    settings: settingsOf(plan),
    model: scriptedModel(plan, recorder),
    tools: scriptedTools(recorder),
    cluster: plan.cluster === undefined ? undefined : new Cluster(base, plan.cluster),
  }
  return {
    ...surroundings,
    plan,
    recorder,
    followers: new Followers(),
    turnRuns: new TurnRuns(),
    slots: new Map(),
    nodes: plan.nodes.map((setup, i) => new Node(`n${i}`, setup, surroundings)),
  }
}

const program = (plan: NodesPlan, left: Left) =>
  Effect.gen(function* () {
    const context = contextOf(plan, yield* ground, yield* Effect.context())
    const { cluster, database, followers, nodes, recorder, turnRuns } = context
    left.recorder = recorder
    const auditor = new Auditor(context)
    const faulty = { nodes, database, recorder, cluster, inspect: auditor.inspect }
    yield* heal(faulty)
    yield* Effect.all([runClients(context), runFaults(faulty, plan.faults)], {
      concurrency: "unbounded",
    })
    yield* recorder.record({ at: "rest" })
    yield* heal(faulty)
    yield* settle(context, auditor)
    yield* recorder.record({ at: "closing" })
    yield* followers.end
    // Where there are none, the run stays what it is without this step.
    if (plan.cluster?.runsTurns) yield* turnRuns.end
    yield* Effect.forEach(nodes, (node) => node.drain, { concurrency: "unbounded", discard: true })
    yield* recorder.record({ at: "closed" })
    left.logs = yield* auditor.logs
    yield* auditor.end
    database.sqlite.close()
  }).pipe(Effect.provide(Logger.layer([])))

/** Most tasks of one run: several hundred times those of a usual one. */
const maxSteps = 5_000_000

/** Time at the start: a clock that is a minute behind is still after 1970. */
const startMs = 1_000_000

/** Runs a plan to its end; the same plan gives the same run. */
export const runNodes = (plan: NodesPlan): NodesRun => {
  const left: Left = { recorder: undefined, logs: new Map<ConversationId, Log>() }
  const { exit, steps } = simulate(plan.seed, program(plan, left), { maxSteps, startMs })
  return {
    plan,
    trace: left.recorder?.trace ?? [],
    end:
      typeof exit === "string"
        ? exit
        : Exit.isSuccess(exit)
          ? "done"
          : `died: ${Cause.pretty(exit.cause)}`,
    steps,
    logs: left.logs,
  }
}
