/**
 * Runs one `ask`: submits the input, answers the questions of the turn, counts its tokens, and reads its end. With a
 * schema it may take two turns, whose events are those of one `Turn`.
 *
 *     wait for earlier turns ──▶ submit ──▶ follow ──▶ answer matches? ── yes ──▶ over
 *                                  ▲                        │ no, the first time
 *                                  └── what is wrong ◀──────┘
 *
 * The fiber belongs to the scope of the chat: when that closes, the turn is interrupted.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SubmitError } from "@colloquy/core/ConversationErrors"
import { isAutoCompactId } from "@colloquy/core/decider/State"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import type { InputItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import {
  AnswerMismatch,
  AskRefused,
  ChatClosed,
  TurnInterrupted,
  TurnLost,
  type TurnError,
} from "../AgentErrors.ts"
import type { OnApproval } from "../Approval.ts"
import { Account } from "../Budget.ts"
import type { AskOptions, Input, Turn, TurnResult } from "../Turn.ts"
import { correction, decodeAnswer, itemsOf, withSchema } from "./Answer.ts"
import { type Answered, follow } from "./FollowTurn.ts"
import type { ToolsByName } from "./ChatTools.ts"

/** What a turn needs of its chat. */
export interface TurnChat {
  readonly conversation: Conversation
  readonly tools: ToolsByName
  /** Gives the conversation the tools of the chat, whatever other chats of it are open. */
  readonly useTools: Effect.Effect<void, never, Scope.Scope>
  /** Whether its input can name images by their path. */
  readonly readsFiles: boolean
  readonly account: Account
  /** Closes when the chat does. */
  readonly scope: Scope.Scope
  readonly isClosed: () => boolean
  /** Runs turns one after the other, those of other chats of the conversation included. */
  readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Makes the id of the next turn. */
  readonly nextId: Effect.Effect<string>
}

const noUsage: TokenUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_output_tokens: 0,
  total_tokens: 0,
}

const sum = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  reasoning_output_tokens: a.reasoning_output_tokens + b.reasoning_output_tokens,
  total_tokens: a.total_tokens + b.total_tokens,
})

const refused = (error: SubmitError): AskRefused =>
  new AskRefused({
    reason: error._tag === "SubmissionRefused" ? error.reason : error._tag,
    message: error.message,
  })

/** The state of one `ask`. */
class RunningAsk<A> {
  readonly started = Deferred.makeUnsafe<void, TurnError>()
  readonly done = Deferred.makeUnsafe<TurnResult<A>, TurnError>()
  /** For each turn of it: whether another one follows. */
  readonly turns = new Map<string, Deferred.Deferred<boolean>>()
  /** Number of the event from which on its events are read. */
  from = 0
  usage = noUsage
  /** True once its interruption was requested, also between two turns of it. */
  private interrupted = false
  private readonly chat: TurnChat
  private readonly options: AskOptions<never, A, unknown>

  constructor(chat: TurnChat, options: AskOptions<never, A, unknown>) {
    this.chat = chat
    this.options = options
  }

  /** Id of the turn that runs or ran last. */
  get id(): string {
    return [...this.turns.keys()].at(-1) ?? ""
  }

  /** @param account the budget of this ask, within that of the chat */
  run(input: Input, account: Account): Effect.Effect<TurnResult<A>, TurnError> {
    return Effect.gen({ self: this }, function* () {
      const { schema } = this.options
      const items = yield* Effect.mapError(
        Effect.fromResult(itemsOf(input, this.chat.readsFiles)),
        (message) => new AskRefused({ reason: "BadInput", message }),
      )
      if (schema === undefined) {
        const { text } = yield* this.turn(items, account)
        // Without a schema the value is the text.
        return this.resultOf(text, text as A)
      }
      const first = yield* this.turn(withSchema(items, schema), account)
      const value = decodeAnswer(first.text, schema)
      if (Result.isSuccess(value)) return this.resultOf(first.text, value.success)
      const second = yield* this.turn(correction(value.failure), account)
      const again = decodeAnswer(second.text, schema)
      if (Result.isSuccess(again)) return this.resultOf(second.text, again.success)
      return yield* new AnswerMismatch({
        turnId: this.id,
        text: second.text,
        problem: again.failure,
      })
    })
  }

  /** Interrupts the turn that runs or is about to. */
  get interrupt(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.interrupted = true
      return this.id === "" ? Effect.void : this.chat.conversation.cancel(this.id)
    })
  }

  /** Its events; see `Turn.events`. */
  get events(): Turn["events"] {
    const { conversation } = this.chat
    const another = (id: string) => {
      const follows = this.turns.get(id)
      return follows === undefined ? Effect.succeed(true) : Deferred.await(follows)
    }
    return conversation.events({ from: this.from }).pipe(
      Stream.filter(({ id }) => this.turns.has(id) || isAutoCompactId(id)),
      Stream.takeUntilEffect(({ id, msg }) =>
        isTerminal(msg) ? Effect.map(another(id), (follows) => !follows) : Effect.succeed(false),
      ),
      Stream.map(({ msg }) => msg),
      Stream.mapError((error) => new TurnLost({ turnId: this.id, reason: error.message })),
    )
  }

  /** Ends the ask for all who wait for it. */
  settle(exit: Exit.Exit<TurnResult<A>, TurnError>): Effect.Effect<void> {
    const { chat, done, started, turns } = this
    const outcome =
      Exit.isFailure(exit) && exit.cause.reasons.some((reason) => reason._tag === "Interrupt")
        ? Exit.fail(
            chat.isClosed()
              ? new ChatClosed({ conversationId: chat.conversation.id })
              : new TurnInterrupted({ turnId: this.id, reason: "interrupted" }),
          )
        : exit
    return Effect.gen(function* () {
      for (const follows of turns.values()) yield* Deferred.succeed(follows, false)
      yield* Deferred.done(done, outcome)
      yield* Deferred.done(started, Exit.asVoid(outcome))
    })
  }

  private resultOf(text: string, value: A): TurnResult<A> {
    const { chat, id, usage } = this
    return { turnId: id, conversationId: chat.conversation.id, text, value, usage }
  }

  /** One turn, from its submission to its end. */
  private turn(
    items: ReadonlyArray<InputItem>,
    account: Account,
  ): Effect.Effect<Answered, TurnError> {
    const { conversation, nextId } = this.chat
    return Effect.gen({ self: this }, function* () {
      if (this.interrupted) {
        return yield* new TurnInterrupted({ turnId: this.id, reason: "interrupted" })
      }
      yield* account.startTurn
      const wanted = yield* nextId
      const state = yield* Effect.mapError(conversation.state, refused)
      if (this.turns.size === 0) this.from = state.seq
      const previous = this.turns.get(this.id)
      this.turns.set(wanted, Deferred.makeUnsafe())
      if (previous !== undefined) yield* Deferred.succeed(previous, true)
      return yield* Effect.scoped(this.submitAndFollow(wanted, items, account))
    })
  }

  private submitAndFollow(wanted: string, items: ReadonlyArray<InputItem>, account: Account) {
    const { conversation, tools, useTools } = this.chat
    const { onApproval } = this.options
    return Effect.gen({ self: this }, function* () {
      yield* useTools
      const answers = onApproval === undefined ? {} : { answers: "approvals" as const }
      const listener = yield* Effect.mapError(
        conversation.attach(answers),
        (error) => new AskRefused({ reason: error._tag, message: error.message }),
      )
      const { id } = yield* conversation
        .submit({ type: "user_input", items }, { id: wanted })
        .pipe(Effect.mapError(refused))
      if (id !== wanted) this.turns.set(id, Deferred.makeUnsafe())
      yield* Deferred.succeed(this.started, undefined)
      if (this.interrupted) yield* conversation.cancel(id)
      const followed = yield* follow({
        turnId: id,
        conversation,
        listener,
        account,
        tools,
        // Its services are those of the caller of `ask`, whose context this fiber has.
        onApproval: onApproval as OnApproval<never> | undefined,
      })
      this.usage = followed.usages.reduce(sum, this.usage)
      return yield* Effect.fromResult(followed.outcome)
    })
  }
}

/** Waits until no earlier turn runs, then runs the ask. The time of its budget passes meanwhile, too. */
const inOrder = <A>(
  { exclusive }: TurnChat,
  account: Account,
  run: Effect.Effect<A, TurnError>,
): Effect.Effect<A, TurnError> =>
  Effect.suspend(() => {
    const begun = Deferred.makeUnsafe<void>()
    const late = Effect.raceFirst(account.whenExceeded, Deferred.await(begun))
    return Effect.raceFirst(
      exclusive(Effect.andThen(Deferred.succeed(begun, undefined), run)),
      Effect.andThen(late, Effect.never),
    )
  })

/** Starts an ask. Resolves when its first turn was accepted. */
export const start = <A>(
  chat: TurnChat,
  input: Input,
  options: AskOptions<never, A, unknown>,
): Effect.Effect<Turn<A>, TurnError> =>
  Effect.suspend(() => {
    const { conversation, isClosed, scope } = chat
    if (isClosed()) return Effect.fail(new ChatClosed({ conversationId: conversation.id }))
    const ask = new RunningAsk(chat, options)
    const running = Account.make("ask", options.budget, chat.account).pipe(
      Effect.flatMap((account) => inOrder(chat, account, ask.run(input, account))),
      Effect.onExit((exit) => ask.settle(exit)),
    )
    return Effect.forkIn(Effect.exit(running), scope, { startImmediately: true }).pipe(
      Effect.flatMap((fiber) => {
        return Deferred.await(ask.started).pipe(
          Effect.onInterrupt(() => Fiber.interrupt(fiber)),
          Effect.map(() => ({
            id: ask.id,
            events: ask.events,
            result: Deferred.await(ask.done),
            interrupt: ask.interrupt,
          })),
        )
      }),
    )
  })
