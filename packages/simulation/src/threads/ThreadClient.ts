/** One client of app-server v2: sends its requests, answers what it is asked, and records every message in the trace. */
import { parseJson } from "@colloquy/protocol/Json"
import { TurnStarted } from "@colloquy/protocol/thread/Notifications"
import type { MemoryConnection } from "@colloquy/testing/MemoryConnection"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { yields } from "../scenario/Pages.ts"
import type { Recorder } from "../trace/Recorder.ts"
import { endBoundMs } from "../wire/WirePlan.ts"
import { at } from "../stateless/StatelessKnown.ts"
import { answerText, hello, type Subject, textOf, unknownThread } from "./ThreadMessages.ts"
import type { ThreadClientPlan, ThreadStep, Whose } from "./ThreadPlan.ts"

/** Threads that clients know: the latest of each client by its number, and the latest of any client. */
export interface KnownThreads {
  readonly own: Map<number, Subject>
  any: Subject
  /** Ids of queued input, by thread. */
  readonly queues: Map<string, ReadonlyArray<string>>
  /** The thread of each request, by connection and id. */
  readonly asked: Map<string, string>
}

const nothing: Subject = { threadId: unknownThread, turnId: "none", queued: [] }

/** Without threads. */
export const noThreads = (): KnownThreads => ({
  own: new Map(),
  any: nothing,
  queues: new Map(),
  asked: new Map(),
})

/** What a client needs to run. */
export interface ThreadEnd {
  /** The number of the connection. */
  readonly name: number
  readonly plan: ThreadClientPlan
  readonly connection: MemoryConnection
  readonly recorder: Recorder
  readonly known: KnownThreads
}

const learnQueue = ({ known, name }: ThreadEnd, message: unknown): void => {
  const threadId = known.asked.get(`${name} ${String(at(message, "id"))}`)
  if (threadId === undefined || at(message, "method") !== undefined) return
  const queued = known.queues.get(threadId) ?? []
  const added = at(message, "result", "queuedSubmission", "id")
  if (typeof added === "string" && !queued.includes(added)) {
    known.queues.set(threadId, [...queued, added])
  }
  const listed = at(message, "result", "data")
  if (Array.isArray(listed) && listed.every((one) => at(one, "input") !== undefined)) {
    known.queues.set(
      threadId,
      listed.map((one) => String(at(one, "id"))),
    )
  }
}

const learn = (end: ThreadEnd, message: unknown): void => {
  const { known, name } = end
  learnQueue(end, message)
  const started = at(message, "result", "thread", "id")
  if (typeof started === "string") {
    const subject = { threadId: started, turnId: "none", queued: [] }
    known.own.set(name, subject)
    known.any = subject
  }
  if (at(message, "method") !== TurnStarted._tag) return
  const [threadId, turnId] = [
    at(message, "params", "threadId"),
    at(message, "params", "turn", "id"),
  ].map(String)
  if (threadId === undefined || turnId === undefined) return
  const subject = { threadId, turnId, queued: [] }
  if (known.own.get(name)?.threadId === threadId) known.own.set(name, subject)
  if (known.any.threadId === threadId) known.any = subject
  known.queues.set(
    threadId,
    (known.queues.get(threadId) ?? []).filter((id) => id !== turnId),
  )
}

const send = ({ connection, name, recorder }: ThreadEnd, text: string) =>
  Effect.gen(function* () {
    yield* recorder.record({ at: "wire", connection: name, way: "out", text })
    // A server that waits for its reader accepts nothing more; the client gives up after a while.
    yield* Effect.timeoutOption(connection.inject({ _tag: "Text", text }), "5 seconds")
  })

/** Answers a question of the server, after a moment in which other things happen. */
const answer = (end: ThreadEnd, message: unknown) => {
  const { answers } = end.plan
  const id = at(message, "id")
  if (id === undefined || at(message, "method") === undefined || answers === "never") {
    return Effect.void
  }
  return Effect.asVoid(
    Effect.forkChild(Effect.andThen(yields(20), Effect.ignore(send(end, answerText(id, answers))))),
  )
}

/** Reads until the server's output ends, or for ever without taking anything once the planned number of reads is used up. */
const read = (end: ThreadEnd) => {
  const { connection, name, plan, recorder } = end
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
          const parsed = parseJson(text)
          const message = Result.isSuccess(parsed) ? parsed.success : undefined
          learn(end, message)
          return Effect.andThen(
            recorder.record({ at: "wire", connection: name, way: "in", text }),
            answer(end, message),
          )
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

const subjectOf = ({ known, name }: ThreadEnd, of: Whose): Subject => {
  const subject =
    of === "unknown" ? nothing : of === "any" ? known.any : (known.own.get(name) ?? nothing)
  return { ...subject, queued: known.queues.get(subject.threadId) ?? [] }
}

const act = (end: ThreadEnd, step: ThreadStep) => {
  if (step.do === "pause") return Effect.sleep(Duration.millis(step.ms))
  if (step.do === "yield") return yields(step.times)
  return Effect.suspend(() => {
    const subject = subjectOf(end, "of" in step ? step.of : "own")
    end.known.asked.set(`${end.name} ${step.id}`, subject.threadId)
    return send(end, textOf(step, subject))
  })
}

/** Runs one client. Resolves when the server has ended too, or twice its bound has passed. */
export const runThreadClient = (end: ThreadEnd, server: Fiber.Fiber<void>) =>
  Effect.gen(function* () {
    const { connection, name, plan, recorder } = end
    const reader = yield* Effect.forkChild(read(end), { startImmediately: true })
    yield* send(end, hello)
    for (const step of plan.steps) yield* act(end, step)
    yield* recorder.record({ at: "wireEnd", connection: name, how: plan.ends })
    yield* plan.ends === "closes" ? connection.close : connection.drop
    yield* Effect.timeoutOption(Fiber.await(server), Duration.millis(endBoundMs * 2))
    yield* plan.reading.how === "stops" ? Fiber.interrupt(reader) : Fiber.await(reader)
    yield* connection.drop
  })
