/** Runs a plan of clients of app-server v2 on the real server: several connections in memory over one manager, under the seeded scheduler. */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
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
import { FaultyStore } from "../faults/FaultyStore.ts"
import { scriptedModel, scriptedTools } from "../faults/ScriptedModel.ts"
import { simulate } from "../Simulate.ts"
import { Recorder } from "../trace/Recorder.ts"
import type { Entry } from "../trace/Trace.ts"
import { howOf, storePlan } from "../wire/WireWorld.ts"
import { type KnownThreads, noThreads, runThreadClient } from "./ThreadClient.ts"
import type { ThreadClientPlan, ThreadPlan } from "./ThreadPlan.ts"

/** What a run recorded. */
export interface ThreadRun {
  readonly plan: ThreadPlan
  readonly trace: ReadonlyArray<Entry>
  /** `done`, or the reason why the run did not end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
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

const program = (plan: ThreadPlan, recorder: Recorder) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const store = FaultyStore.make(storePlan(plan), recorder)
    const services = yield* Layer.buildWithScope(
      Layer.mergeAll(
        Server.layerDefault(),
        Auth.layerNone,
        HostPort.layerNone,
        UserConfig.layerNone,
      ).pipe(
        Layer.provide(Conversations.layer),
        Layer.provide([IdGenerator.layer, Layer.succeed(ConversationStore, store)]),
        Layer.provide(Layer.succeed(ModelClient, scriptedModel(plan, recorder))),
        Layer.provide(Layer.succeed(ToolRuntime, scriptedTools(recorder))),
        Layer.provideMerge(
          Layer.succeed(SettingsResolver, { resolve: () => Effect.sync(() => scriptedSettings()) }),
        ),
      ),
      scope,
    )
    const known = noThreads()
    yield* Effect.forEach(
      plan.connections,
      (connection, name) => serveOne(connection, name, recorder, known),
      { concurrency: "unbounded", discard: true },
    ).pipe(Effect.provideContext(services))
    yield* recorder.record({ at: "closing" })
    yield* Scope.close(scope, Exit.void)
    yield* recorder.record({ at: "closed" })
  }).pipe(Effect.provide(Logger.layer([])))

/** Runs a plan to its end; the same plan gives the same run. */
export const runThreads = (plan: ThreadPlan): ThreadRun => {
  const recorder = new Recorder()
  const { exit, steps } = simulate(plan.seed, program(plan, recorder))
  const ended = (done: Exit.Exit<unknown, unknown>) =>
    Exit.isSuccess(done) ? "done" : `died: ${Cause.pretty(done.cause)}`
  return { plan, trace: recorder.trace, end: typeof exit === "string" ? exit : ended(exit), steps }
}
