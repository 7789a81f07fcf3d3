/**
 * Runs a plan of clients of app-server v2 on the real server, under the seeded scheduler: several connections in memory,
 * over one manager or over two that share the store. A run may crash; a client of another process then reads what is left.
 */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { Event } from "@colloquy/protocol/EventMsg"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import { serve } from "@colloquy/server/AppServer"
import { Server } from "@colloquy/server/Server"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { crash } from "../Restart.ts"
import type { StorePlan } from "../scenario/Plan.ts"
import { FaultyStore } from "../faults/FaultyStore.ts"
import { scriptedModel, scriptedTools } from "../faults/ScriptedModel.ts"
import { simulate } from "../Simulate.ts"
import { Recorder } from "../trace/Recorder.ts"
import type { Entry } from "../trace/Trace.ts"
import { howOf } from "../wire/WireWorld.ts"
import { type KnownThreads, noThreads, runThreadClient } from "./ThreadClient.ts"
import type { ThreadClientPlan, ThreadPlan, ThreadStep } from "./ThreadPlan.ts"

/** What a run recorded. */
export interface ThreadRun {
  readonly plan: ThreadPlan
  readonly trace: ReadonlyArray<Entry>
  /** `done`, or the reason why the run did not end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
  /** Everything that was written to the store, in order. */
  readonly batches: FaultyStore["batches"]
  /** Ids of the threads that were deleted. */
  readonly deleted: ReadonlySet<string>
  /** The process after the crash, when the plan has one. */
  readonly afterRestart?: ThreadRestart
}

/** A process after a crash. Its one client resumes and reads every thread that is left. */
export interface ThreadRestart extends ThreadRun {
  /** The events of each thread that survived. */
  readonly surviving: ReadonlyMap<string, ReadonlyArray<Event>>
  /** The turns of each thread from which reverts drop that were accepted before the crash and carried out after it. */
  readonly reverting: ReadonlyMap<string, ReadonlyArray<string>>
}

const serveOne = (plan: ThreadClientPlan, name: number, recorder: Recorder, known: KnownThreads) =>
  Effect.gen(function* () {
    const [client, server] = yield* memoryPair(plan.capacity)
    const over = (exit: Exit.Exit<void>) =>
      Effect.andThen(
        recorder.record({ at: "wireEnd", connection: name, how: howOf(exit) }),
        server.close,
      )
    const fiber = yield* Effect.forkChild(Effect.onExit(serve(server), over))
    yield* runThreadClient({ name, plan, connection: client, recorder, known }, fiber)
  }).pipe(
    // A message that the client sends after the server has ended is not delivered.
    Effect.catchTag("ConnectionClosed", () => Effect.void),
    Effect.scoped,
  )

const storePlan = ({
  appendFaults,
  stolen,
  storeFaults,
}: Pick<ThreadPlan, "appendFaults" | "stolen" | "storeFaults">): StorePlan => ({
  idleMs: 600_000,
  maxLoaded: 1_000,
  unaudited: [],
  faults: storeFaults.map((call) => ({ call, how: "fails" })),
  appendFaults: [
    ...appendFaults.map((call) => ({ call, how: "fails" as const })),
    ...(stolen === undefined ? [] : [{ call: stolen, how: "stolen" as const }]),
  ],
  restart: false,
})

/** A request that breaks off is repeated once: its texts are sent again. */
const settings = () => scriptedSettings({ showRawReasoning: true }, { streamMaxRetries: 1 })

/** The services of one process. */
const processOver = (plan: ThreadPlan, recorder: Recorder, store: FaultyStore) =>
  Layer.fresh(
    Layer.mergeAll(
      Server.layerDefault(),
      Auth.layerNone,
      HostPort.layerNone,
      UserConfig.layerNone,
    ).pipe(
      Layer.provide(Conversations.layer),
      Layer.provide([IdGenerator.layer, Layer.succeed(ConversationStore, store)]),
      Layer.provide(Layer.succeed(ModelClient, scriptedModel(plan, recorder, true))),
      Layer.provide(Layer.succeed(ToolRuntime, scriptedTools(recorder))),
      Layer.provideMerge(Layer.succeed(SettingsResolver, { resolve: () => Effect.sync(settings) })),
    ),
  )

const program = (plan: ThreadPlan, recorder: Recorder, store: FaultyStore) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const processes = yield* Effect.forEach(Array.from({ length: plan.processes }), () =>
      Layer.buildWithScope(processOver(plan, recorder, store), scope),
    )
    const known = noThreads()
    yield* Effect.forEach(
      plan.connections,
      (connection, name) => {
        const services = processes[name % processes.length]
        return services === undefined
          ? Effect.void
          : Effect.provideContext(serveOne(connection, name, recorder, known), services)
      },
      { concurrency: "unbounded", discard: true },
    )
    yield* recorder.record({ at: "closing" })
    yield* Scope.close(scope, Exit.void)
    yield* recorder.record({ at: "closed" })
  }).pipe(Effect.provide(Logger.layer([])))

const runOver = (
  plan: ThreadPlan,
  recorder: Recorder,
  store: FaultyStore,
  startMs: number,
): ThreadRun => {
  const { exit, steps } = simulate(plan.seed, program(plan, recorder, store), { startMs })
  const ended = (done: Exit.Exit<unknown, unknown>) =>
    Exit.isSuccess(done) ? "done" : `died: ${Cause.pretty(done.cause)}`
  const end = typeof exit === "string" ? exit : ended(exit)
  const deleted = new Set(store.deleted.map(({ id }) => id))
  return { plan, trace: recorder.trace, end, steps, batches: store.batches, deleted }
}

/** The client after a crash: what it sends, about every thread that is left. */
const recalling = (threads: Iterable<string>): ThreadClientPlan => ({
  capacity: 16,
  reading: { how: "fast" },
  answers: "accept",
  ends: "closes",
  steps: [
    { do: "pause", ms: 1 },
    ...[...threads].flatMap((threadId, place): ReadonlyArray<ThreadStep> => {
      const id = 1 + place * 4
      return [
        { do: "recall", id, what: "read", threadId },
        { do: "pause", ms: 1 },
        { do: "recall", id: id + 1, what: "resume", threadId },
        { do: "recall", id: id + 2, what: "queueList", threadId },
        { do: "pause", ms: 20_000 },
        { do: "recall", id: id + 3, what: "read", threadId },
      ]
    }),
    { do: "pause", ms: 1 },
  ],
})

const runAgain = (run: ThreadRun, store: FaultyStore): ThreadRestart => {
  const { plan } = run
  const recorder = new Recorder(1_000)
  const faults = { appendFaults: [], storeFaults: [] }
  const left = crash({ seed: plan.seed, store: storePlan(faults) }, run.trace, store, recorder)
  const { stolen: _, ...rest } = plan
  const again: ThreadPlan = {
    ...rest,
    ...faults,
    processes: 1,
    restart: false,
    connections: [recalling(left.surviving.keys())],
  }
  const startMs = run.trace[left.at]?.ms ?? 0
  const { reverting, surviving } = left
  return { ...runOver(again, recorder, left.store, startMs), surviving, reverting }
}

/** Runs a plan to its end; the same plan gives the same run. */
export const runThreads = (plan: ThreadPlan): ThreadRun => {
  const recorder = new Recorder()
  const store = FaultyStore.make(storePlan(plan), recorder)
  const run = runOver(plan, recorder, store, 0)
  return plan.restart && run.end === "done" ? { ...run, afterRestart: runAgain(run, store) } : run
}
