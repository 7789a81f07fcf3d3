/** One client of a run without handshakes: sends the messages of its plan, reads and ends as planned, and records every message in the trace. */
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
import { type MessageStep, textOf } from "./StatelessMessages.ts"
import type { StatelessClientPlan, StatelessStep } from "./StatelessPlan.ts"
import { changeFeatures } from "./StatelessServer.ts"

/** What a client needs to run. */
export interface StatelessEnd {
  /** The number of the connection. */
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

/** The state of one client while it runs. */
class StatelessClient {
  private readonly end: StatelessEnd
  /** Params of the messages that were sent, by id. */
  private readonly sent = new Map<unknown, Members>()
  private reads = 0

  constructor(end: StatelessEnd) {
    this.end = end
  }

  private record(way: "in" | "out", text: string): Effect.Effect<void> {
    return this.end.recorder.record({ at: "wire", connection: this.end.name, way, text })
  }

  private receive(text: string): Effect.Effect<void> {
    const message = parse(text)
    this.end.known.recordResponse(this.end.name, this.sent.get(at(message, "id")), message)
    return this.record("in", text)
  }

  /** Reads until the server's output ends, or for ever without taking anything once the planned number of reads is used up. */
  readonly read: Effect.Effect<void, Cause.Done> = Effect.suspend(() => {
    const { reading } = this.end.plan
    if (reading.how === "stops" && this.reads >= reading.takes) return Effect.never
    this.reads++
    return Effect.flatMap(this.end.connection.receive, (frames) =>
      Effect.forEach(
        frames,
        (frame) => this.receive(frame._tag === "Text" ? frame.text : frame._tag),
        { discard: true },
      ).pipe(
        Effect.andThen(
          reading.how === "slow" ? Effect.sleep(Duration.millis(reading.ms)) : Effect.void,
        ),
        Effect.andThen(this.read),
      ),
    )
  })

  private send(step: MessageStep) {
    const { connection, known, name } = this.end
    return Effect.gen({ self: this }, function* () {
      const source = step.do === "answer" || step.do === "task" ? step.of : "own"
      const asked = known.asked.of(name, source === "unknown" ? "own" : source)
      const task = known.tasks.of(name, source === "unknown" ? "own" : source)
      const text = textOf(step, { asked, task })
      const message = parse(text)
      const params = at(message, "params")
      if (isMembers(params)) this.sent.set(at(message, "id"), params)
      yield* this.record("out", text)
      // A server that waits for its reader accepts nothing more; the client gives up after a while.
      yield* Effect.timeoutOption(connection.send([text]), "5 seconds")
    })
  }

  act(step: StatelessStep) {
    switch (step.do) {
      case "pause":
        return Effect.sleep(Duration.millis(step.ms))
      case "yield":
        return yields(step.times)
      case "change":
        return Effect.andThen(
          changeFeatures(this.end.features, step.what),
          this.end.recorder.record({ at: "changed", what: step.what }),
        )
      default:
        return this.send(step)
    }
  }
}

/** Runs one client. Resolves when the server has ended too, or twice its bound has passed. */
export const runStatelessClient = (end: StatelessEnd, server: Fiber.Fiber<void>) =>
  Effect.gen(function* () {
    const { connection, name, plan, recorder } = end
    const client = new StatelessClient(end)
    // The ignored failure is the end of the server's output.
    const reader = yield* Effect.forkChild(Effect.ignore(client.read), { startImmediately: true })
    for (const step of plan.steps) yield* client.act(step)
    yield* recorder.record({ at: "wireEnd", connection: name, how: plan.ends })
    yield* plan.ends === "closes" ? connection.close : connection.drop
    yield* Effect.timeoutOption(Fiber.await(server), Duration.millis(endBoundMs * 2))
    yield* plan.reading.how === "stops" ? Fiber.interrupt(reader) : Fiber.await(reader)
    yield* connection.drop
  })
