/**
 * The commands that a conversation has not read yet, in a bounded queue: while it is full, senders wait. Every command with
 * a reply gets one, from the conversation or from `refuse`.
 */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Tracer from "effect/Tracer"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import type { Decision, Input } from "../decider/Decision.ts"
import type { Step } from "../turn/TurnPort.ts"

/** The reply to a command. */
export type Reply =
  | { readonly _tag: "Decision"; readonly decision: Decision; readonly step?: Step }
  /** The command had no effect; `because`: it could not be recorded. */
  | { readonly _tag: "Closed"; readonly because?: ConversationUnavailable }

/** An input to decide on, or a request to suspend the conversation if it is idle. */
export type Command =
  | {
      readonly input: Input
      readonly reply?: Deferred.Deferred<Reply>
      /** The span of the caller, where the conversation is observed. */
      readonly caller?: Tracer.AnySpan
    }
  | { readonly suspend: Deferred.Deferred<boolean> }

/** Commands that the queue holds: 64, as the submission queue of the original does. */
const capacity = 64

/** Completes a reply. The fiber that waits for it runs at once, before this returns. */
export const reply = <A>(to: Deferred.Deferred<A>, value: A): void => {
  Deferred.doneUnsafe(to, Effect.succeed(value))
}

/** Replies that the conversation is closed and the command had no effect. */
export const refuse = (command: Command, because?: ConversationUnavailable): void => {
  if ("suspend" in command) reply(command.suspend, false)
  else if (command.reply !== undefined) {
    reply(command.reply, { _tag: "Closed", ...(because === undefined ? {} : { because }) })
  }
}

/** The bounded inbox of a conversation: callers put commands into it, the conversation's fiber takes them in order. */
export class Inbox {
  private readonly queue: Queue.Queue<Command, Cause.Done>

  private constructor(queue: Queue.Queue<Command, Cause.Done>) {
    this.queue = queue
  }

  static readonly make = Effect.map(
    Queue.bounded<Command, Cause.Done>(capacity),
    (queue) => new Inbox(queue),
  )

  /** Number of commands in the queue. */
  get size(): number {
    return Queue.sizeUnsafe(this.queue)
  }

  /** Resolves once the command is in the queue: true, or false where the conversation is closed. */
  send(command: Command): Effect.Effect<boolean> {
    return Queue.offer(this.queue, command)
  }

  /** Sends an input and waits for its reply. Never fails. */
  ask(input: Input, caller?: Tracer.AnySpan): Effect.Effect<Reply> {
    return Effect.suspend(() => {
      const answer = Deferred.makeUnsafe<Reply>()
      const command =
        caller === undefined ? { input, reply: answer } : { input, reply: answer, caller }
      return Effect.flatMap(this.send(command), (sent) =>
        sent ? Deferred.await(answer) : Effect.succeed<Reply>({ _tag: "Closed" }),
      )
    })
  }

  /** Waits until there is a command, and takes nothing. Fails once the inbox has ended. */
  get awaitCommand(): Effect.Effect<unknown, Cause.Done> {
    return Queue.peek(this.queue)
  }

  /**
   * Takes all commands in order and lets them be worked on; waits where there is none. A defect of the work refuses those
   * that got no reply yet: their callers would wait forever.
   */
  serve(
    work: (commands: ReadonlyArray<Command>) => Effect.Effect<void>,
  ): Effect.Effect<void, Cause.Done> {
    return Effect.flatMap(Queue.takeAll(this.queue), (commands) =>
      Effect.onError(work(commands), () =>
        Effect.sync(() => {
          for (const command of commands) refuse(command)
        }),
      ),
    )
  }

  /** Closes the inbox and refuses the commands in it, and those of senders that wait for room. */
  end(because?: ConversationUnavailable): Effect.Effect<void> {
    return Effect.andThen(
      Queue.end(this.queue),
      // Senders that wait for room get in as it empties, until the queue is done.
      Effect.map(Queue.collect(this.queue), (rest) => {
        for (const command of rest) refuse(command, because)
      }),
    )
  }
}
