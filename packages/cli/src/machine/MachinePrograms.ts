/**
 * What all starts of programs on this machine share: the programs that the process trusts, and the turns to start. Loaded
 * on first use by `SharedPrograms`.
 */
import { StartTurns } from "@colloquy/tools/process/StartTurns"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as NodePlatform from "./NodePlatform.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type Variables = Readonly<Record<string, string | undefined>>

const make = (
  environment: Variables,
): Effect.Effect<Context.Context<StartTurns | TrustedPrograms>> =>
  TrustedPrograms.make({ environment }).pipe(
    Effect.provide(NodePlatform.layer),
    Effect.map((programs) =>
      Context.make(TrustedPrograms, programs).pipe(
        Context.add(StartTurns, StartTurns.makeUnsafe()),
      ),
    ),
  )

/** Provides new services. A serving process must have one of each only: see `SharedPrograms`. */
export const layer = (environment: Variables): Layer.Layer<StartTurns | TrustedPrograms> =>
  Layer.effectContext(make(environment))

/** Creates the services and returns a layer that provides these wherever it is used. */
export const shared = (
  environment: Variables,
): Effect.Effect<Layer.Layer<StartTurns | TrustedPrograms>> =>
  Effect.map(make(environment), Layer.succeedContext)
