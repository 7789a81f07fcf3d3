/** One client of a wire run: sends the messages of its plan, reads and ends as planned, and records every message in the trace. */
import type { MemoryConnection } from "@colloquy/testing/MemoryConnection"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { yields } from "../scenario/Pages.ts"
import type { Recorder } from "../trace/Recorder.ts"
import { frameOf } from "./WireMessages.ts"
import { endBoundMs, type WireClientPlan, type WireStep } from "./WirePlan.ts"

/** Conversations that clients know: the latest of each client by its number, and the latest of any client. */
export interface Threads {
  readonly own: Map<number, string>
  any: string
}

/** The id of a conversation that does not exist. */
export const unknownThread = "00000000-0000-7000-8000-00000000ffff"

const session = /"type":"session_configured","session_id":"([0-9a-f-]{36})"/

/** What a client needs to run. */
export interface WireEnd {
  /** The number of the connection. */
  readonly name: number
  readonly plan: WireClientPlan
  readonly connection: MemoryConnection
  readonly recorder: Recorder
  readonly threads: Threads
}

/** Reads until the server's output ends, or for ever without taking anything once the planned number of reads is used up. */
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
  // The ignored failure is the end of the server's output.
  return Effect.ignore(next)
}

const act = ({ connection, name, recorder, threads }: WireEnd, step: WireStep) => {
  if (step.do === "pause") return Effect.sleep(Duration.millis(step.ms))
  if (step.do === "yield") return yields(step.times)
  return Effect.gen(function* () {
    const known = step.do === "reply" && step.to === "any" ? threads.any : threads.own.get(name)
    const thread = step.do === "reply" && step.to === "unknown" ? undefined : known
    const frame = frameOf(step, thread ?? unknownThread)
    const text = frame._tag === "Text" ? frame.text : frame._tag
    yield* recorder.record({ at: "wire", connection: name, way: "out", text })
    // A server that waits for its reader accepts nothing more; the client gives up after a while.
    yield* Effect.timeoutOption(connection.inject(frame), "5 seconds")
  })
}

/** Runs one client. Resolves when the server has ended too, or twice its bound has passed. */
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
