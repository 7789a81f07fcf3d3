/** The listeners of a run: each has a fiber that reads as planned and records in the trace what it takes. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Listener } from "@colloquy/core/listeners/Listener"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { answerOf } from "../trace/AnswerOf.ts"
import type { Answering, Reading } from "./Plan.ts"
import type { Recorder } from "../trace/Recorder.ts"

/** How a listener attaches, reads and answers. */
export interface ListenerPlan {
  readonly listener: string
  /** Number of the first event; absent for live events only. */
  readonly from?: number
  readonly maxEvents: number
  readonly reading: Reading
  readonly answering?: Answering
}

/** Name of a conversation's audit: the listener from which the laws know the conversation's log. */
export const auditOf = (conversation: string): string => `audit ${conversation}`

/** All listeners of one run. */
export class Listeners {
  private readonly fibers = new Map<string, Fiber.Fiber<void>>()
  private readonly recorder: Recorder
  /** Completed at the end of the run; `dead` listeners start to read then. */
  private readonly over: Deferred.Deferred<void>

  private constructor(recorder: Recorder, over: Deferred.Deferred<void>) {
    this.recorder = recorder
    this.over = over
  }

  /** A set without listeners. */
  static make(recorder: Recorder): Effect.Effect<Listeners> {
    return Effect.map(Deferred.make<void>(), (over) => new Listeners(recorder, over))
  }

  /** Attaches and starts to read. Resolves when the listener is attached; fails when the conversation refuses it. */
  attach(
    conversation: Conversation,
    plan: ListenerPlan,
  ): Effect.Effect<void, Effect.Error<ReturnType<Conversation["attach"]>>> {
    const { listener, from, maxEvents, reading, answering } = plan
    return Effect.uninterruptible(
      Effect.gen({ self: this }, function* () {
        const scope = yield* Scope.make()
        const before = (yield* conversation.state).seq
        const attached = yield* conversation
          .attach({
            ...(from === undefined ? {} : { from }),
            limits: { maxEvents, maxBytes: 4 * 1024 * 1024 },
            answers: answering !== undefined,
          })
          .pipe(Scope.provide(scope))
        yield* this.recorder.record({
          at: "listening",
          listener,
          conversation: conversation.id,
          from,
          before,
          maxEvents,
          reading,
          ...(answering === undefined ? {} : { answering }),
        })
        const reply = (deliveries: ReadonlyArray<Delivery>) =>
          this.reply(conversation, plan, deliveries)
        const fiber = yield* this.read(listener, attached, reading, reply).pipe(
          Effect.ensuring(Scope.close(scope, Exit.void)),
          Effect.interruptible,
          Effect.forkDetach({ startImmediately: true }),
        )
        this.fibers.set(listener, fiber)
      }),
    )
  }

  /** Answers the questions among the deliveries. */
  private reply(
    conversation: Conversation,
    { listener, answering }: ListenerPlan,
    deliveries: ReadonlyArray<Delivery>,
  ): Effect.Effect<void> {
    if (answering === undefined || answering === "silent") return Effect.void
    const questions = deliveries.flatMap((delivery) =>
      delivery._tag === "Ask" && delivery.event.msg.type === "exec_approval_request"
        ? [delivery.event.msg.call_id]
        : [],
    )
    return Effect.forEach(
      questions,
      (id) =>
        Effect.flatMap(
          Effect.exit(conversation.submit({ type: "exec_approval", id, decision: answering })),
          (exit) =>
            this.recorder.record({
              at: "replied",
              listener,
              conversation: conversation.id,
              question: id,
              decision: answering,
              answer: answerOf(exit),
            }),
        ),
      { discard: true },
    )
  }

  private read(
    listener: string,
    from: Listener,
    reading: Reading,
    reply: (deliveries: ReadonlyArray<Delivery>) => Effect.Effect<void>,
  ): Effect.Effect<void> {
    let takes = 0
    const next: Effect.Effect<void> = Effect.suspend(() => {
      if (reading.how === "leaves" && takes >= reading.takes) {
        return this.recorder.record({ at: "left", listener })
      }
      takes++
      return Effect.matchEffect(from.take, {
        onFailure: (end) =>
          this.recorder.record({
            at: "ended",
            listener,
            ...(end._tag === "Done" ? {} : { because: end.message }),
          }),
        onSuccess: (deliveries) =>
          this.recorder
            .record({ at: "took", listener, deliveries })
            .pipe(
              Effect.andThen(
                reading.how === "slow" ? Effect.sleep(Duration.millis(reading.ms)) : Effect.void,
              ),
              Effect.andThen(reply(deliveries)),
              Effect.andThen(next),
            ),
      })
    })
    return reading.how === "dead" ? Effect.andThen(Deferred.await(this.over), next) : next
  }

  /** Interrupts a listener at any point; does nothing for an unknown name. */
  detach(listener: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const fiber = this.fibers.get(listener)
      if (fiber === undefined) return Effect.void
      this.fibers.delete(listener)
      return Effect.andThen(Fiber.interrupt(fiber), this.recorder.record({ at: "left", listener }))
    })
  }

  /** Lets `dead` listeners read. Resolves when every listener has read to its end. */
  get finish(): Effect.Effect<void> {
    return Effect.andThen(
      Deferred.succeed(this.over, undefined),
      Effect.suspend(() => Effect.asVoid(Fiber.awaitAll(this.fibers.values()))),
    )
  }
}
