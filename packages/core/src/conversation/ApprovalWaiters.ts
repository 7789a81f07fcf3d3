/**
 * Where the tools of a conversation wait for the verdicts on their questions, and where deadlines run. Carries out what
 * `ApprovalDecisions.ts` decides; decides nothing itself. Every asker gets one verdict, also when the conversation ends.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Verdict } from "../approvals/Approval.ts"
import type { Input, InputOf } from "../decider/Decision.ts"
import type { Outcome } from "../approvals/Elicitation.ts"

const atShutdown: Verdict = { decision: "denied", reason: "shutdown" }
const notAsked: Verdict = { decision: "denied", reason: "withdrawn" }

export class ApprovalWaiters {
  /** Made by the first question: most conversations have none. */
  private waiters: Map<number, Deferred.Deferred<Outcome>> | undefined
  /** Questions of an earlier life that got an asker: by their number the asker's, by the asker's theirs. */
  private readonly moved = { to: new Map<number, number>(), from: new Map<number, number>() }
  private next = 0
  private readonly scope: Scope.Scope
  private readonly send: (input: Input) => Effect.Effect<boolean>

  /** `scope` holds the deadlines; `send` gives false once the conversation takes nothing more. */
  constructor(scope: Scope.Scope, send: (input: Input) => Effect.Effect<boolean>) {
    this.scope = scope
    this.send = send
  }

  /** Asks and waits. Interrupted, it withdraws the question. Never fails. */
  ask(turnId: SubmissionId, request: InputOf<"Ask">["request"]): Effect.Effect<Outcome> {
    return Effect.suspend(() => {
      const number = this.next++
      const waiter = Deferred.makeUnsafe<Outcome>()
      this.waiters ??= new Map()
      this.waiters.set(number, waiter)
      return this.send({ _tag: "Ask", turnId, number, request }).pipe(
        Effect.flatMap((taken) => (taken ? Effect.void : this.settle(number, atShutdown))),
        Effect.andThen(Deferred.await(waiter)),
        Effect.onInterrupt(() =>
          Effect.andThen(this.settle(number, notAsked), this.send({ _tag: "Withdraw", number })),
        ),
      )
    })
  }

  /** Tells the asker, once; one that does not wait any more is left alone. */
  settle(number: number, verdict: Outcome): Effect.Effect<void> {
    return Effect.suspend(() => {
      const earlier = this.moved.from.get(number)
      this.moved.from.delete(number)
      const also = earlier === undefined ? Effect.void : this.settle(earlier, verdict)
      const waiter = this.waiters?.get(number)
      this.waiters?.delete(number)
      return waiter === undefined ? also : Effect.andThen(Deferred.succeed(waiter, verdict), also)
    })
  }

  /** The deadline of a question that was put before a restart: nobody waits for its verdict yet. */
  keepDeadline(number: number, after: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.waiters ??= new Map()
      this.waiters.set(number, Deferred.makeUnsafe())
      return this.startDeadline(number, after)
    })
  }

  /** The question `from` is that of asker `to` from now on; its deadline stays. */
  moveDeadline(from: number, to: number): void {
    if (this.waiters?.has(from) !== true) return
    this.moved.to.set(from, to)
    this.moved.from.set(to, from)
  }

  /** Tells when the time is over in which somebody may come. */
  expect(within: Duration.Duration): Effect.Effect<void> {
    return Effect.sleep(within).pipe(
      Effect.andThen(this.send({ _tag: "GraceEnded" })),
      Effect.forkIn(this.scope, { startImmediately: true }),
      Effect.asVoid,
    )
  }

  /** Lets the question expire, unless it is settled before. */
  startDeadline(number: number, after: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      const waiter = this.waiters?.get(number)
      return waiter === undefined
        ? Effect.void
        : Deferred.await(waiter).pipe(
            Effect.timeoutOrElse({
              duration: after,
              orElse: () =>
                this.send({ _tag: "Expire", number: this.moved.to.get(number) ?? number }),
            }),
            Effect.forkIn(this.scope, { startImmediately: true }),
            Effect.asVoid,
          )
    })
  }

  /** The conversation decides nothing any more: whoever waits is told. */
  close(): Effect.Effect<void> {
    const numbers = [...(this.waiters?.keys() ?? [])]
    return Effect.forEach(numbers, (number) => this.settle(number, atShutdown), { discard: true })
  }
}
