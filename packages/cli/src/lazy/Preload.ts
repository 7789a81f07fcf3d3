/**
 * Loads the modules of a first conversation while the process has nothing else to do, so that the conversation does not
 * wait for them. Evaluates modules only: builds no service, and reads, writes, probes and starts nothing. Whatever is used
 * earlier is loaded by its use.
 */
import * as Effect from "effect/Effect"

/** Longer than a client needs for its first requests, which would wait for a module that is being evaluated. */
const idle = "100 millis"

/** Lets a request that came meanwhile be served between two modules. */
const pause = "1 millis"

const loads: ReadonlyArray<() => Promise<unknown>> = [
  () => import("@colloquy/core/manager/Conversations"),
  () => import("@colloquy/store/node/NodeStore"),
  () => import("../machine/MachineDocs.ts"),
  () => import("../machine/MachineTools.ts"),
  () => import("@colloquy/models/ModelRouter"),
  () => import("../machine/HttpModels.ts"),
]

/** Resolves when all are loaded. A module that cannot be loaded is reported by its first use. */
export const preload: Effect.Effect<void> = Effect.delay(
  Effect.forEach(loads, (load) => Effect.delay(Effect.exit(Effect.tryPromise(load)), pause), {
    discard: true,
  }),
  idle,
)
