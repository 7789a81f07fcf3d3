/**
 * Runs a plan of clients without a handshake on the real server: several connections in memory, each with its `McpServer`
 * and its principal, over one manager, one sealer and one set of tasks, under the seeded scheduler.
 */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { Features } from "@colloquy/server/features/Features"
import { serve } from "@colloquy/server/McpServer"
import { Server } from "@colloquy/server/Server"
import { Tasks } from "@colloquy/server/tasks/Tasks"
import * as Cause from "effect/Cause"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { settings } from "../scenario/Scenarios.ts"
import { scriptedModel, scriptedTools } from "../faults/ScriptedModel.ts"
import { restMs } from "../scenario/Plan.ts"
import { Recorder } from "../trace/Recorder.ts"
import { simulate } from "../Simulate.ts"
import type { Entry } from "../trace/Trace.ts"
import { runStatelessClient } from "./StatelessClient.ts"
import { Known } from "./StatelessKnown.ts"
import type { StatelessClientPlan, StatelessPlan } from "./StatelessPlan.ts"
import { drawnCrypto, simulatedFeatures as makeFeatures, slowSealer } from "./StatelessServer.ts"

/** What a run recorded. */
export interface StatelessRun {
  readonly plan: StatelessPlan
  readonly trace: ReadonlyArray<Entry>
  /** `done`, or the reason why the run did not end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
}

interface Shared {
  readonly recorder: Recorder
  readonly known: Known
  readonly features: Features
}

/** How a server ended. `stopped`: it was interrupted instead of ending on its input's end. */
const howOf = (exit: Exit.Exit<void>) => {
  if (Exit.isSuccess(exit)) return "over"
  return Cause.hasInterruptsOnly(exit.cause) ? "stopped" : "died"
}

const serveOne = (plan: StatelessClientPlan, name: number, shared: Shared) =>
  Effect.gen(function* () {
    const { recorder } = shared
    const [client, server] = yield* memoryPair(plan.capacity, { principal: plan.principal })
    const over = (exit: Exit.Exit<void>) =>
      Effect.andThen(
        recorder.record({ at: "wireEnd", connection: name, how: howOf(exit) }),
        server.close,
      )
    const serving = serve(server, { maxInFlight: 64 })
    const fiber = yield* Effect.forkChild(Effect.onExit(serving, over))
    yield* runStatelessClient({ name, plan, connection: client, ...shared }, fiber)
  }).pipe(
    // A message that the client sends after the server has ended is not delivered.
    Effect.catchTag("ConnectionClosed", () => Effect.void),
    Effect.scoped,
  )

/** Records which conversation belongs to which call: the model's first input holds the text of the call. */
const prompted = (model: ModelClient["Service"], recorder: Recorder): ModelClient["Service"] => ({
  stream: (request) => {
    const sent = JSON.stringify(request.input)
    const text = /s\d+\.\d+\./.exec(sent)?.[0] ?? ""
    const conversation = request.conversationId
    return Stream.unwrap(
      Effect.as(recorder.record({ at: "prompted", conversation, text }), model.stream(request)),
    )
  },
})

const program = (plan: StatelessPlan, recorder: Recorder) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const model = prompted(scriptedModel(plan, recorder), recorder)
    const shared = { recorder, known: new Known(), features: yield* makeFeatures(recorder) }
    const services = yield* Layer.buildWithScope(
      Layer.provide(
        Server.layer({ features: shared.features }),
        Layer.mergeAll(
          Conversations.layer.pipe(
            Layer.provide([IdGenerator.layer, MemoryStore.layer]),
            Layer.provide(Layer.succeed(ModelClient, model)),
            Layer.provide(Layer.succeed(ToolRuntime, scriptedTools(recorder))),
            Layer.provideMerge(
              Layer.succeed(SettingsResolver, { resolve: () => Effect.succeed(settings) }),
            ),
          ),
          slowSealer(plan.sealing),
          Tasks.layer(),
        ),
      ),
      scope,
    )
    yield* Effect.forEach(
      plan.connections,
      (connection, name) => serveOne(connection, name, shared),
      { concurrency: "unbounded", discard: true },
    ).pipe(Effect.provideContext(services))
    // Questions without an answer reach their deadline.
    yield* Effect.sleep(Duration.millis(restMs))
    yield* recorder.record({ at: "closing" })
    yield* Scope.close(scope, Exit.void)
    yield* recorder.record({ at: "closed" })
  }).pipe(
    Effect.updateService(WebCrypto, (platform) => drawnCrypto(platform, plan.seed)),
    Effect.provide(Logger.layer([])),
  )

/** Enough for many long turns in hours of virtual time. */
const maxSteps = 1_000_000

/** Runs a plan to its end; the same plan gives the same run. */
export const runStateless = (plan: StatelessPlan): StatelessRun => {
  const recorder = new Recorder()
  const { exit, steps } = simulate(plan.seed, program(plan, recorder), { maxSteps })
  const ended = (done: Exit.Exit<unknown, unknown>) =>
    Exit.isSuccess(done) ? "done" : `died: ${Cause.pretty(done.cause)}`
  return { plan, trace: recorder.trace, end: typeof exit === "string" ? exit : ended(exit), steps }
}
