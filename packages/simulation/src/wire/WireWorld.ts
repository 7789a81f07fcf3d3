/**
 * Runs a wire plan on the real server: several connections in memory, each with its `McpServer`, over one manager,
 * under the same seeded scheduler as the runs of the core.
 */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import { Server } from "@colloquy/server/Server"
import { beside } from "@colloquy/server/AppServer"
import { serve } from "@colloquy/server/McpServer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import { scriptedModel, scriptedTools } from "../faults/ScriptedModel.ts"
import { FaultyStore } from "../faults/FaultyStore.ts"
import { Recorder } from "../trace/Recorder.ts"
import { simulate } from "../Simulate.ts"
import type { Entry } from "../trace/Trace.ts"
import { runClient, type Threads, unknownThread } from "./WireClient.ts"
import type { WireClientPlan, WirePlan } from "./WirePlan.ts"

/** What a run recorded. */
export interface WireRun {
  readonly plan: WirePlan
  readonly trace: ReadonlyArray<Entry>
  /** `done`, or the reason why the run did not end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
}

/** How a server ended. `stopped`: it was interrupted instead of ending on its input's end. */
export const howOf = (exit: Exit.Exit<void>) => {
  if (Exit.isSuccess(exit)) return "over"
  return Cause.hasInterruptsOnly(exit.cause) ? "stopped" : "died"
}

const serveOne = (plan: WireClientPlan, name: number, recorder: Recorder, threads: Threads) =>
  Effect.gen(function* () {
    const [client, server] = yield* memoryPair(plan.capacity)
    const over = (exit: Exit.Exit<void>) =>
      Effect.andThen(
        recorder.record({
          at: "wireEnd",
          connection: name,
          how: howOf(exit),
        }),
        server.close,
      )
    const serving = Effect.flatMap(beside(), (route) => serve(server, { beside: route }))
    const fiber = yield* Effect.forkChild(Effect.onExit(serving, over))
    yield* runClient({ name, plan, connection: client, recorder, threads }, fiber)
  }).pipe(
    // A message that the client sends after the server has ended is not delivered.
    Effect.catchTag("ConnectionClosed", () => Effect.void),
    Effect.scoped,
  )

/** What the store of a run does: only its appends fail. */
const storePlan = ({ appendFaults }: Pick<WirePlan, "appendFaults">) => ({
  idleMs: 600_000,
  maxLoaded: 1_000,
  unaudited: [],
  faults: [],
  appendFaults: appendFaults.map((call) => ({ call, how: "fails" as const })),
  restart: false,
})

const program = (plan: WirePlan, recorder: Recorder) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(
      Layer.mergeAll(
        Server.layerDefault(),
        Auth.layerNone,
        HostPort.layerNone,
        UserConfig.layerNone,
      ).pipe(
        Layer.provide(Conversations.layer),
        Layer.provide([
          IdGenerator.layer,
          Layer.succeed(ConversationStore, FaultyStore.make(storePlan(plan), recorder)),
        ]),
        Layer.provide(Layer.succeed(ModelClient, scriptedModel(plan, recorder))),
        Layer.provide(Layer.succeed(ToolRuntime, scriptedTools(recorder))),
        Layer.provideMerge(
          Layer.succeed(SettingsResolver, { resolve: () => Effect.sync(() => scriptedSettings()) }),
        ),
      ),
      scope,
    )
    const threads: Threads = { own: new Map(), any: unknownThread }
    yield* Effect.forEach(
      plan.connections,
      (connection, name) => serveOne(connection, name, recorder, threads),
      { concurrency: "unbounded", discard: true },
    ).pipe(Effect.provideContext(services))
    yield* recorder.record({ at: "closing" })
    yield* Scope.close(scope, Exit.void)
    yield* recorder.record({ at: "closed" })
  }).pipe(Effect.provide(Logger.layer([])))

/** Runs a plan to its end; the same plan gives the same run. */
export const runWire = (plan: WirePlan): WireRun => {
  const recorder = new Recorder()
  const { exit, steps } = simulate(plan.seed, program(plan, recorder))
  const ended = (done: Exit.Exit<unknown, unknown>) =>
    Exit.isSuccess(done) ? "done" : `died: ${Cause.pretty(done.cause)}`
  return { plan, trace: recorder.trace, end: typeof exit === "string" ? exit : ended(exit), steps }
}
