/** One client of a wire run: says what its plan says, reads as it does, ends as it does, and tells the trace. */
import type { MemoryConnection } from "@colloquy/testing/MemoryConnection"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { yields } from "../scenario/Pages.ts"
import type { Recorder } from "../trace/Recorder.ts"
import { frameOf } from "./WireMessages.ts"
import { endBoundMs, type WireClientPlan, type WireStep } from "./WirePlan.ts"

/** Conversations that clients heard of: the last one each, and the last one of all. */
export interface Threads {
  readonly own: Map<number, string>
  any: string
}

/** A conversation that nobody has. */
export const unknownThread = "00000000-0000-7000-8000-00000000ffff"

const session = /"type":"session_configured","session_id":"([0-9a-f-]{36})"/

export interface WireEnd {
  readonly name: number
  readonly plan: WireClientPlan
  readonly connection: MemoryConnection
  readonly recorder: Recorder
  readonly threads: Threads
}

/** Reads until the server's output ends, or it does not read any more. */
const read = ({ connection, name, plan, recorder, threads }: WireEnd) => {
  const { reading } = plan
  let takes = 0
  const next: Effect.Effect<void, Cause.Done> = Effect.suspend(() => {
    if (reading.how === "stops" && takes >= reading.takes) return Effect.never
    takes++
    return Effect.flatMap(connection.receive, (frames) =>
      Effect.forEach(
        frames,
        (frame) => {
          const text = frame._tag === "Text" ? frame.text : frame._tag
          const thread = session.exec(text)?.[1]
          if (thread !== undefined) {
            threads.own.set(name, thread)
            threads.any = thread
          }
          return recorder.record({ at: "wire", connection: name, way: "in", text })
        },
        { discard: true },
      ).pipe(
        Effect.andThen(
          reading.how === "slow" ? Effect.sleep(Duration.millis(reading.ms)) : Effect.void,
        ),
        Effect.andThen(next),
      ),
    )
  })
  // The failure ignored is the end of the server's output.
  return Effect.ignore(next)
}

const act = ({ connection, name, recorder, threads }: WireEnd, step: WireStep) => {
  if (step.say === "pause") return Effect.sleep(Duration.millis(step.ms))
  if (step.say === "yield") return yields(step.times)
  return Effect.gen(function* () {
    const known = step.say === "reply" && step.to === "any" ? threads.any : threads.own.get(name)
    const thread = step.say === "reply" && step.to === "unknown" ? undefined : known
    const frame = frameOf(step, thread ?? unknownThread)
    const text = frame._tag === "Text" ? frame.text : frame._tag
    yield* recorder.record({ at: "wire", connection: name, way: "out", text })
    // A server that waits for its reader takes nothing more; the client does not wait for ever.
    yield* Effect.timeoutOption(connection.inject(frame), "5 seconds")
  })
}

/** Returns when the server has ended too, or its bound is over. */
export const runClient = (end: WireEnd, server: Fiber.Fiber<void>) =>
  Effect.gen(function* () {
    const { connection, name, plan, recorder } = end
    const reader = yield* Effect.forkChild(read(end), { startImmediately: true })
    for (const step of plan.steps) yield* act(end, step)
    yield* recorder.record({ at: "wireEnd", connection: name, how: plan.ends })
    yield* plan.ends === "closes" ? connection.close : connection.drop
    yield* Effect.timeoutOption(Fiber.await(server), Duration.millis(endBoundMs * 2))
    yield* plan.reading.how === "stops" ? Fiber.interrupt(reader) : Fiber.await(reader)
    yield* connection.drop
  })
