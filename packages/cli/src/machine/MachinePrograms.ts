/** The programs of this machine that the process trusts. Loaded on first use by `SharedPrograms`. */
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as NodePlatform from "./NodePlatform.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type Variables = Readonly<Record<string, string | undefined>>

/** Provides a new service. A serving process must have one only: see `SharedPrograms`. */
export const layer = (environment: Variables): Layer.Layer<TrustedPrograms> =>
  Layer.effect(
    TrustedPrograms,
    TrustedPrograms.make({ environment }).pipe(Effect.provide(NodePlatform.layer)),
  )

/** Creates the service and returns a layer that provides this one wherever it is used. */
export const shared = (environment: Variables): Effect.Effect<Layer.Layer<TrustedPrograms>> =>
  TrustedPrograms.make({ environment }).pipe(
    Effect.provide(NodePlatform.layer),
    Effect.map((made) => Layer.succeed(TrustedPrograms, made)),
  )
