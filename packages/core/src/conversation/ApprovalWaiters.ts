/**
 * The tools of a conversation that wait for verdicts on their questions, and the deadlines of those questions. Carries out
 * what `ApprovalDecisions.ts` decides, and decides nothing itself. Every tool that asks gets exactly one verdict, also when
 * the conversation ends (L7).
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
const withdrawn: Verdict = { decision: "denied", reason: "withdrawn" }

/** The waiting tools of one conversation, by the number of their question. */
export class ApprovalWaiters {
  /** Created by the first question: most conversations have none. */
  private waiters: Map<number, Deferred.Deferred<Outcome>> | undefined
  /** Questions from before a restart that a tool asked again: from the old number to the new one, and back. */
  private moved:
    | { readonly to: Map<number, number>; readonly from: Map<number, number> }
    | undefined
  private next = 0
  private readonly scope: Scope.Scope
  private readonly send: (input: Input) => Effect.Effect<boolean>

  /** `scope` holds the fibers of the deadlines; `send` gives false once the conversation is closed. */
  constructor(scope: Scope.Scope, send: (input: Input) => Effect.Effect<boolean>) {
    this.scope = scope
    this.send = send
  }

  /** Puts a question and waits for its verdict. Interrupted, it withdraws the question. Never fails. */
  ask(turnId: SubmissionId, request: InputOf<"Ask">["request"]): Effect.Effect<Outcome> {
    return Effect.suspend(() => {
      const number = this.next++
      const waiter = Deferred.makeUnsafe<Outcome>()
      this.waiters ??= new Map()
      this.waiters.set(number, waiter)
      return this.send({ _tag: "Ask", turnId, number, request }).pipe(
        Effect.flatMap((taken) => (taken ? Effect.void : this.resolve(number, atShutdown))),
        Effect.andThen(Deferred.await(waiter)),
        Effect.onInterrupt(() =>
          Effect.andThen(this.resolve(number, withdrawn), this.send({ _tag: "Withdraw", number })),
        ),
      )
    })
  }

  /** Gives the verdict to the tool that waits for it; has no effect when no tool waits. */
  resolve(number: number, verdict: Outcome): Effect.Effect<void> {
    return Effect.suspend(() => {
      const earlier = this.moved?.from.get(number)
      this.moved?.from.delete(number)
      const also = earlier === undefined ? Effect.void : this.resolve(earlier, verdict)
      const waiter = this.waiters?.get(number)
      this.waiters?.delete(number)
      return waiter === undefined ? also : Effect.andThen(Deferred.succeed(waiter, verdict), also)
    })
  }

  /** Starts the deadline of a question that was put before a restart; no tool waits for its verdict yet. */
  restoreDeadline(number: number, after: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.waiters ??= new Map()
      this.waiters.set(number, Deferred.makeUnsafe())
      return this.startDeadline(number, after)
    })
  }

  /** Renumbers the question `from` to `to`, under which a tool has asked it again; its deadline is unchanged. */
  moveDeadline(from: number, to: number): void {
    if (this.waiters?.has(from) !== true) return
    this.moved ??= { to: new Map(), from: new Map() }
    this.moved.to.set(from, to)
    this.moved.from.set(to, from)
  }

  /** Notifies the conversation when the time has passed in which a listener that can answer may attach. */
  startGrace(within: Duration.Duration): Effect.Effect<void> {
    return Effect.sleep(within).pipe(
      Effect.andThen(this.send({ _tag: "GraceEnded" })),
      Effect.forkIn(this.scope, { startImmediately: true }),
      Effect.asVoid,
    )
  }

  /** Expires the question after this time, unless it is resolved before. */
  startDeadline(number: number, after: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      const waiter = this.waiters?.get(number)
      return waiter === undefined
        ? Effect.void
        : Deferred.await(waiter).pipe(
            Effect.timeoutOrElse({
              duration: after,
              orElse: () =>
                this.send({ _tag: "Expire", number: this.moved?.to.get(number) ?? number }),
            }),
            Effect.forkIn(this.scope, { startImmediately: true }),
            Effect.asVoid,
          )
    })
  }

  /** Denies every question that waits, because the conversation is closed. */
  close(): Effect.Effect<void> {
    const numbers = [...(this.waiters?.keys() ?? [])]
    return Effect.forEach(numbers, (number) => this.resolve(number, atShutdown), { discard: true })
  }
}
