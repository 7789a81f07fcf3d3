/**
 * What a conversation has not looked at yet. Bounded: whoever has something for it when it is full waits outside.
 * Every command that asks is answered, by the conversation or by `refuse`.
 */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import type { Decision, Input } from "../decider/Decision.ts"
import type { Step } from "../turn/TurnPort.ts"

type Answer =
  | { readonly _tag: "Decision"; readonly decision: Decision; readonly step?: Step }
  /** Nothing of it happened; `because`: it could not be recorded. */
  | { readonly _tag: "Closed"; readonly because?: ConversationUnavailable }

export type Command =
  | { readonly input: Input; readonly reply?: Deferred.Deferred<Answer> }
  | { readonly suspend: Deferred.Deferred<boolean> }

/** Submissions and events a conversation has not looked at yet; more wait outside (§5.1: 64 in the original). */
const capacity = 64

/** Whoever waits for it goes on at once, before this returns. */
export const answer = <A>(reply: Deferred.Deferred<A>, value: A): void => {
  Deferred.doneUnsafe(reply, Effect.succeed(value))
}

/** Nothing happens, since the conversation is over. */
export const refuse = (command: Command, because?: ConversationUnavailable): void => {
  if ("suspend" in command) answer(command.suspend, false)
  else if (command.reply !== undefined) {
    answer(command.reply, { _tag: "Closed", ...(because === undefined ? {} : { because }) })
  }
}

export class Inbox {
  private readonly queue: Queue.Queue<Command, Cause.Done>

  private constructor(queue: Queue.Queue<Command, Cause.Done>) {
    this.queue = queue
  }

  static readonly make = Effect.map(
    Queue.bounded<Command, Cause.Done>(capacity),
    (queue) => new Inbox(queue),
  )

  /** Commands in it. */
  get size(): number {
    return Queue.sizeUnsafe(this.queue)
  }

  /** Returns when it is in; false once the conversation takes nothing more. */
  send(command: Command): Effect.Effect<boolean> {
    return Queue.offer(this.queue, command)
  }

  /** Sends and waits for the answer. */
  ask(input: Input): Effect.Effect<Answer> {
    return Effect.flatMap(Deferred.make<Answer>(), (reply) =>
      Effect.flatMap(this.send({ input, reply }), (taken) =>
        taken ? Deferred.await(reply) : Effect.succeed<Answer>({ _tag: "Closed" }),
      ),
    )
  }

  /** Waits until something is in it; takes nothing. */
  get filled(): Effect.Effect<unknown, Cause.Done> {
    return Queue.peek(this.queue)
  }

  get takeAll(): Effect.Effect<ReadonlyArray<Command>, Cause.Done> {
    return Queue.takeAll(this.queue)
  }

  /** Takes nothing more; refuses what is left, and whoever waits for room. */
  end(because?: ConversationUnavailable): Effect.Effect<void> {
    return Effect.andThen(
      Queue.end(this.queue),
      // Callers that wait for room get in as it empties, until the queue is done.
      Effect.map(Queue.collect(this.queue), (rest) => {
        for (const command of rest) refuse(command, because)
      }),
    )
  }
}
