/** The parts that an embedder adds to the server of a run: two tools that ask, a resource, a slow sealer, seeded random bytes. */
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import { make as makeFeatures, type Features } from "@colloquy/server/features/Features"
import { resource as aResource } from "@colloquy/server/features/Resource"
import { tool } from "@colloquy/server/features/Tool"
import { Sealer } from "@colloquy/server/Sealer"
import type { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestSealer from "@colloquy/testing/TestSealer"
import { SeededRandom } from "../SeededRandom.ts"
import { yields } from "../scenario/Pages.ts"
import type { Recorder } from "../trace/Recorder.ts"
import { resource } from "./StatelessMessages.ts"
import type { StatelessPlan } from "./StatelessPlan.ts"

const Input = Schema.Struct({ text: Schema.String })

const form = {
  method: Elicit._tag,
  params: {
    message: "who?",
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    },
  },
} as const

const recordTool =
  (recorder: Recorder, name: string, text: string) => (does: "begins" | "once" | "ends") =>
    recorder.record({ at: "ran", tool: name, text, does })

/** Does its once-only action, asks two questions at the same time, then a third. */
const formTool = (recorder: Recorder) =>
  tool({
    name: "form",
    input: Input,
    run: ({ text }, context) => {
      const record = recordTool(recorder, "form", text)
      return Effect.gen(function* () {
        yield* context.once("charge", Effect.as(record("once"), "charged"))
        yield* context.ask({ a: form, b: form })
        yield* context.ask({ c: form })
        return text
      })
    },
  })

/** Works, asks, and works again; becomes a task when the client declares tasks. */
const longTool = (recorder: Recorder) =>
  tool({
    name: "long",
    input: Input,
    taskSupport: "optional",
    run: ({ text }, context) => {
      const record = recordTool(recorder, "long", text)
      const work = Effect.sleep("200 millis")
      return Effect.acquireUseRelease(
        record("begins"),
        () =>
          Effect.andThen(work, Effect.as(Effect.andThen(context.ask({ name: form }), work), text)),
        () => record("ends"),
      )
    },
  })

/** The tool that `changeFeatures` adds and removes. */
const extraTool = tool({ name: "extra", run: () => Effect.succeed("") })

/** The tools and the resource of a run. */
export const simulatedFeatures = (recorder: Recorder): Effect.Effect<Features> =>
  Effect.orDie(
    makeFeatures({
      tools: [formTool(recorder), longTool(recorder)],
      resources: [aResource({ uri: resource, name: "one", read: () => Effect.succeed("one") })],
    }),
  )

/** Updates the resource, or adds the extra tool if it is absent and removes it if it is present. */
export const changeFeatures = (
  features: Features,
  what: "tools" | "resource",
): Effect.Effect<void> =>
  what === "resource"
    ? features.updated(resource)
    : Effect.flatMap(features.removeTool(extraTool.name), (there) =>
        there
          ? Effect.void
          : // Another client of the run may have added it in the meantime: the list has changed either way.
            Effect.ignore(features.addTool(extraTool)),
      )

/** A sealer that yields and sleeps as planned before it works, so that other fibers run in the meantime. */
export const slowSealer = ({
  ms,
  yields: times,
}: StatelessPlan["sealing"]): Layer.Layer<Sealer> => {
  const work = Effect.andThen(
    yields(times),
    ms === 0 ? Effect.void : Effect.sleep(Duration.millis(ms)),
  )
  const slow = Layer.effect(
    Sealer,
    Effect.map(Sealer, ({ open, seal }) => ({
      seal: (purpose, text) => Effect.andThen(work, seal(purpose, text)),
      open: (purpose, sealed) => Effect.andThen(work, open(purpose, sealed)),
    })),
  )
  return Layer.provide(slow, TestSealer.layer)
}

type Platform = Effect.Success<typeof WebCrypto>

/** The platform's cryptography with random bytes from a seed. */
export const drawnCrypto = (platform: Platform, seed: number): Platform => {
  const draws = new SeededRandom(seed ^ 0x5bd1e995)
  const getRandomValues = <A>(bytes: A): A => {
    if (bytes instanceof Uint8Array) bytes.set(Array.from(bytes, () => draws.below(256)))
    return bytes
  }
  return new Proxy(platform, {
    get: (target, name) =>
      name === "getRandomValues" ? getRandomValues : (Reflect.get(target, name) as unknown),
  })
}
