/**
 * Runs a plan on the real `ConversationManager` under a seed, and returns the trace. Every conversation gets an additional
 * listener, its audit, from its first event on: the laws compare other listeners with it. Conversations that the plan
 * leaves unaudited, so that they can leave memory, are read at the end.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import { answerOf } from "./trace/AnswerOf.ts"
import { audit, settings } from "./scenario/Scenarios.ts"
import { runClients } from "./scenario/Clients.ts"
import type { Surroundings } from "./scenario/OperationContext.ts"
import { FaultyStore } from "./faults/FaultyStore.ts"
import { scriptedModel, scriptedTools } from "./faults/ScriptedModel.ts"
import { auditOf, Listeners } from "./scenario/Listeners.ts"
import { type Plan, restMs } from "./scenario/Plan.ts"
import { Recorder } from "./trace/Recorder.ts"
import { crash, resumeClients } from "./Restart.ts"
import { simulate } from "./Simulate.ts"
import type { Entry } from "./trace/Trace.ts"

/** What a run recorded. */
export interface Run {
  readonly plan: Plan
  readonly trace: ReadonlyArray<Entry>
  /** `done`, or the reason why the run did not end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
  /** Set for the process after a crash: the events of each conversation that survived. */
  readonly surviving?: ReadonlyMap<string, ReadonlyArray<Event>>
  /** Set for the process after a crash: of each conversation the trace up to its last surviving record. */
  readonly requested?: ReadonlyMap<string, ReadonlyArray<Entry>>
  /** Set for the process after a crash: the run before it, up to the crash. */
  readonly beforeCrash?: Run
  /** The process after the crash, when the plan has one. */
  readonly afterRestart?: Run
}

/** One process: starts a manager over the store, runs `live` with it, and closes it. */
const runProcess = <E>(
  plan: Plan,
  recorder: Recorder,
  store: FaultyStore,
  live: (surroundings: Surroundings) => Effect.Effect<void, E>,
) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(
      Conversations.layerWith({
        maxConversations: plan.maxConversations,
        maxLoaded: plan.store.maxLoaded,
        idleTimeToLive: Duration.millis(plan.store.idleMs),
      }).pipe(
        Layer.provide([
          IdGenerator.layer,
          Layer.succeed(ConversationStore, store),
          scriptedResolver(settings),
        ]),
        Layer.provide(Layer.succeed(ModelClient, scriptedModel(plan, recorder))),
        Layer.provide(Layer.succeed(ToolRuntime, scriptedTools(recorder))),
      ),
      scope,
    )
    const manager = Context.get(services, ConversationManager)
    const listeners = yield* Listeners.make(recorder)
    const close = Effect.gen(function* () {
      yield* recorder.record({ at: "closing" })
      yield* Scope.close(scope, Exit.void)
      yield* recorder.record({ at: "closed" })
    })
    const surroundings = { manager, listeners, recorder, close }
    yield* live(surroundings)
    yield* Effect.sleep(Duration.millis(restMs))
    yield* recorder.record({ at: "rest" })
    store.heal()
    yield* readUnaudited(surroundings)
    yield* close
    yield* listeners.finish
  }).pipe(Effect.provide(Logger.layer([])))

/** Attaches an audit to every conversation that has none, so that its log is known; does nothing after the manager has closed. */
const readUnaudited = (surroundings: Surroundings) =>
  Effect.gen(function* () {
    const { manager, recorder } = surroundings
    if (recorder.trace.some(({ at }) => at === "closing")) return
    const audited = new Set(
      recorder.trace.flatMap((entry) => (entry.at === "listening" ? [entry.listener] : [])),
    )
    for (const entry of recorder.trace) if (entry.at === "ended") audited.delete(entry.listener)
    for (const conversation of recorder.conversations) {
      if (audited.has(auditOf(conversation))) continue
      const exit = yield* Effect.exit(
        Effect.flatMap(manager.get(conversation), (found) => audit(surroundings, found)),
      )
      yield* recorder.record({ at: "read", conversation, answer: answerOf(exit) })
    }
  })

const endOf = (exit: Exit.Exit<unknown, unknown> | string): string => {
  if (typeof exit === "string") return exit
  return Exit.isSuccess(exit) ? "done" : `died: ${Cause.pretty(exit.cause)}`
}

/** A store without faults and limits. */
const unlimitedStore = {
  idleMs: 600_000,
  maxLoaded: 1_000,
  unaudited: [],
  faults: [],
  appendFaults: [],
  restart: false,
}

/** Runs a plan to its end; the same plan gives the same run. */
export const run = (plan: Plan): Run => {
  const recorder = new Recorder()
  const store = FaultyStore.make(plan.store, recorder)
  const first = simulate(
    plan.seed,
    runProcess(plan, recorder, store, (surroundings) => runClients(plan, surroundings)),
  )
  const end = endOf(first.exit)
  const done: Run = { plan, trace: recorder.trace, end, steps: first.steps }
  if (!plan.store.restart || end !== "done") return done
  const again = new Recorder(1_000)
  const { at, requested, surviving, store: rest } = crash(plan, recorder.trace, store, again)
  // Every conversation has an audit at the same time, so all must fit into memory.
  const roomy = { ...plan, store: { ...plan.store, ...unlimitedStore } }
  const second = simulate(
    plan.seed,
    runProcess(roomy, again, rest, (surroundings) =>
      resumeClients(surroundings, roomy, recorder.trace.slice(0, at)),
    ),
    { startMs: recorder.trace[at]?.ms ?? 0 },
  )
  const afterRestart = {
    plan: roomy,
    trace: again.trace,
    end: endOf(second.exit),
    steps: second.steps,
    surviving,
    requested,
    beforeCrash: { ...done, trace: recorder.trace.slice(0, at) },
  }
  return { ...done, afterRestart }
}
