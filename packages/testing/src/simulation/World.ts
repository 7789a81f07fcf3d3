/**
 * Runs a plan on the real `ConversationManager` under a seed, and gives the trace. Every conversation gets one more
 * listener, its audit, from its first event on: what the log holds, for the laws to compare with.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { runClients } from "./Clients.ts"
import { scriptedModel, scriptedTools } from "./Faults.ts"
import { Listeners } from "./Listeners.ts"
import type { Plan } from "./Plan.ts"
import { Recorder } from "./Recorder.ts"
import { simulate } from "./Simulate.ts"
import type { Entry } from "./Trace.ts"

export interface Run {
  readonly plan: Plan
  readonly trace: ReadonlyArray<Entry>
  /** `done`, or why the run did not come to its end. */
  readonly end: string
  readonly steps: number
}

/** Time for what still runs when the clients are done; longer than every bound and every plan's turn. */
const rest = "60 seconds"

const program = (plan: Plan, recorder: Recorder) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const services = yield* Layer.buildWithScope(
      ConversationManager.layerWith({ maxConversations: plan.maxConversations }).pipe(
        Layer.provide([IdGenerator.layer, ConversationStore.layerMemory]),
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
    yield* runClients(plan, { manager, listeners, recorder, close })
    yield* Effect.sleep(rest)
    yield* recorder.record({ at: "rest" })
    yield* close
    yield* listeners.finish
  }).pipe(Effect.provide(Logger.layer([])))

/** Runs a plan to its end; the same plan gives the same run. */
export const run = (plan: Plan): Run => {
  const recorder = new Recorder()
  const { exit, steps } = simulate(plan.seed, program(plan, recorder))
  const end =
    typeof exit === "string"
      ? exit
      : Exit.isSuccess(exit)
        ? "done"
        : `died: ${Cause.pretty(exit.cause)}`
  return { plan, trace: recorder.trace, end, steps }
}
