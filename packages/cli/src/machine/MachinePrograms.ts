/**
 * The programs that this process trusts. There is one such service for an environment, however many layers are built:
 * each has to know where the commands of all conversations can write.
 */
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type Variables = Readonly<Record<string, string | undefined>>

const made = new WeakMap<Variables, Effect.Effect<TrustedPrograms["Service"]>>()

const shared = (environment: Variables): Effect.Effect<TrustedPrograms["Service"]> => {
  const known = made.get(environment)
  if (known !== undefined) return known
  const programs = Effect.runSync(
    Effect.cached(
      TrustedPrograms.make({ environment }).pipe(
        Effect.provide(NodeServices.layer),
        Effect.uninterruptible,
      ),
    ),
  )
  made.set(environment, programs)
  return programs
}

export const layer = (environment: Variables): Layer.Layer<TrustedPrograms> =>
  Layer.effect(TrustedPrograms, shared(environment))
