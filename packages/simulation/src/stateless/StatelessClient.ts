/** One client of a run without handshakes: says what its plan says, reads as it does, ends as it does, tells the trace. */
import type { Features } from "@colloquy/server/features/Features"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { MemoryConnection } from "@colloquy/testing/MemoryConnection"
import { yields } from "../scenario/Pages.ts"
import type { Recorder } from "../trace/Recorder.ts"
import { endBoundMs } from "../wire/WirePlan.ts"
import { at, isMembers, type Known, type Members } from "./StatelessKnown.ts"
import { textOf } from "./StatelessMessages.ts"
import type { StatelessClientPlan, StatelessStep } from "./StatelessPlan.ts"
import { change } from "./StatelessServer.ts"

export interface StatelessEnd {
  readonly name: number
  readonly plan: StatelessClientPlan
  readonly connection: MemoryConnection
  readonly recorder: Recorder
  readonly known: Known
  readonly features: Features
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Runs one client; returns when the server has ended too, or its bound is over. */
export const runStatelessClient = (end: StatelessEnd, server: Fiber.Fiber<void>) => {
  const { connection, features, known, name, plan, recorder } = end
  const { reading } = plan
  /** Params of what was said, by id. */
  const said = new Map<unknown, Members>()

  const hear = (text: string) => {
    const message = parse(text)
    known.hear(name, said.get(at(message, "id")), message)
    return recorder.record({ at: "wire", connection: name, way: "in", text })
  }

  let takes = 0
  const read: Effect.Effect<void, Cause.Done> = Effect.suspend(() => {
    if (reading.how === "stops" && takes >= reading.takes) return Effect.never
    takes++
    return Effect.flatMap(connection.receive, (frames) =>
      Effect.forEach(frames, (frame) => hear(frame._tag === "Text" ? frame.text : frame._tag), {
        discard: true,
      }).pipe(
        Effect.andThen(
          reading.how === "slow" ? Effect.sleep(Duration.millis(reading.ms)) : Effect.void,
        ),
        Effect.andThen(read),
      ),
    )
  })

  const act = (step: StatelessStep) => {
    switch (step.say) {
      case "pause":
        return Effect.sleep(Duration.millis(step.ms))
      case "yield":
        return yields(step.times)
      case "change":
        return Effect.andThen(
          change(features, step.what),
          recorder.record({ at: "changed", what: step.what }),
        )
      default:
        return Effect.gen(function* () {
          const whose = step.say === "answer" || step.say === "task" ? step.of : "own"
          const asked = known.asked.of(name, whose === "unknown" ? "own" : whose)
          const task = known.tasks.of(name, whose === "unknown" ? "own" : whose)
          const text = textOf(step, { asked, task })
          const message = parse(text)
          const params = at(message, "params")
          if (isMembers(params)) said.set(at(message, "id"), params)
          yield* recorder.record({ at: "wire", connection: name, way: "out", text })
          // A server that waits for its reader takes nothing more; the client does not wait for ever.
          yield* Effect.timeoutOption(connection.send([text]), "5 seconds")
        })
    }
  }

  return Effect.gen(function* () {
    // The failure ignored is the end of the server's output.
    const reader = yield* Effect.forkChild(Effect.ignore(read), { startImmediately: true })
    for (const step of plan.steps) yield* act(step)
    yield* recorder.record({ at: "wireEnd", connection: name, how: plan.ends })
    yield* plan.ends === "closes" ? connection.close : connection.drop
    yield* Effect.timeoutOption(Fiber.await(server), Duration.millis(endBoundMs * 2))
    yield* reading.how === "stops" ? Fiber.interrupt(reader) : Fiber.await(reader)
    yield* connection.drop
  })
}
