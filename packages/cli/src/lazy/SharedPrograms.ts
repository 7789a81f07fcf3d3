/**
 * The trusted programs of the process and the turns to start programs, loaded at their first use. The tools, the
 * app-server's commands and `notify` are loaded separately but share these services: the first must know every directory
 * that commands of any conversation can write to, the second bounds the starts of the whole process.
 */
import type { StartTurns } from "@colloquy/tools/process/StartTurns"
import type { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type Variables = Readonly<Record<string, string | undefined>>

/** See the header. */
export class SharedPrograms extends Context.Service<
  SharedPrograms,
  {
    /** Provides the shared services; creates them at the first use, even if that caller is interrupted. */
    readonly layer: Layer.Layer<StartTurns | TrustedPrograms>
  }
>()("colloquy/SharedPrograms") {
  static readonly layerOf = (environment: Variables): Layer.Layer<SharedPrograms> =>
    Layer.effect(
      this,
      Effect.map(
        Effect.cached(
          Effect.promise(() => import("../machine/MachinePrograms.ts")).pipe(
            Effect.flatMap(({ shared }) => shared(environment)),
          ),
        ),
        // Created once: a cached effect starts anew when its only caller is interrupted.
        (programs) => ({ layer: Layer.unwrap(Effect.uninterruptible(programs)) }),
      ),
    )
}
