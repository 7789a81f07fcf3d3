/**
 * What asking may cost. A budget is checked before each turn and after each response of the model: the response that
 * exceeds it is paid, and the turn is interrupted then. A chat's budget is shared with its children, and ends all of
 * their turns at once.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { BudgetExceeded } from "./AgentErrors.ts"
import { type Kinds, duration, limit, optional, options } from "./internal/Options.ts"

/** Limits. An absent one does not limit. */
export interface Budget {
  /** Tokens of all requests, input and output, as the provider counts them. */
  readonly tokens?: number
  /** Number of turns: inputs to the model, the second attempt at a structured answer included. */
  readonly turns?: number
  /** From the opening of the chat, or from the `ask`. */
  readonly time?: Duration.Input
}

/** What a budget has to be. */
export const budgetOptions = options({
  tokens: optional(limit),
  turns: optional(limit),
  time: optional(duration),
} satisfies Kinds<Budget>)

/** What has been used of one budget. */
export class Account {
  private readonly of: BudgetExceeded["of"]
  private readonly limits: Budget
  private readonly startMs: number
  private readonly parent: Account | undefined
  private readonly over = Deferred.makeUnsafe<never, BudgetExceeded>()
  private failure: BudgetExceeded | undefined
  private tokens = 0
  private turns = 0

  private constructor(
    of: BudgetExceeded["of"],
    limits: Budget,
    startMs: number,
    parent: Account | undefined,
  ) {
    this.of = of
    this.limits = limits
    this.startMs = startMs
    this.parent = parent
  }

  /** Opens an account. What is spent of it is also spent of the parent. */
  static readonly make = (
    of: BudgetExceeded["of"],
    limits: Budget = {},
    parent?: Account,
  ): Effect.Effect<Account> =>
    Effect.map(Clock.currentTimeMillis, (now) => new Account(of, limits, now, parent))

  /** Counts a turn that is about to start. Fails, and counts nothing, where a budget allows no more. */
  get startTurn(): Effect.Effect<void, BudgetExceeded> {
    return Effect.gen({ self: this }, function* () {
      if (this.parent !== undefined) yield* this.parent.startTurn
      yield* Effect.flatMap(Clock.currentTimeMillis, (now) => this.check(now, 1))
      this.turns++
    })
  }

  /** Counts the tokens of one response. */
  spend(tokens: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.tokens += tokens
      const { limits } = this
      if (limits.tokens !== undefined && this.tokens > limits.tokens) {
        this.failure ??= this.failureOf("tokens", limits.tokens, this.tokens)
        yield* Deferred.fail(this.over, this.failure)
      }
      if (this.parent !== undefined) yield* this.parent.spend(tokens)
    })
  }

  /** The budget of tokens that is exceeded, this one or that of a parent; undefined: none is. */
  get exceeded(): BudgetExceeded | undefined {
    return this.failure ?? this.parent?.exceeded
  }

  /** Fails once this budget or that of a parent is exceeded, whoever spends it. Never succeeds. */
  get whenExceeded(): Effect.Effect<never, BudgetExceeded> {
    const { limits, parent, startMs } = this
    const waits = [Deferred.await(this.over)]
    if (limits.time !== undefined) {
      const limitMs = Duration.toMillis(limits.time)
      const late = Effect.gen({ self: this }, function* () {
        const now = yield* Clock.currentTimeMillis
        yield* Effect.sleep(startMs + limitMs - now)
        return yield* this.failureOf("time", limitMs, (yield* Clock.currentTimeMillis) - startMs)
      })
      waits.push(late)
    }
    if (parent !== undefined) waits.push(parent.whenExceeded)
    return waits.reduce((a, b) => Effect.raceFirst(a, b))
  }

  private check(now: number, more: number): Effect.Effect<void, BudgetExceeded> {
    const { limits, startMs, tokens, turns } = this
    const timeMs = limits.time === undefined ? Infinity : Duration.toMillis(limits.time)
    if (now - startMs >= timeMs) return Effect.fail(this.failureOf("time", timeMs, now - startMs))
    if (limits.turns !== undefined && turns + more > limits.turns) {
      return Effect.fail(this.failureOf("turns", limits.turns, turns))
    }
    return limits.tokens !== undefined && tokens >= limits.tokens
      ? Effect.fail(this.failureOf("tokens", limits.tokens, tokens))
      : Effect.void
  }

  private failureOf(budget: BudgetExceeded["budget"], limit: number, used: number): BudgetExceeded {
    return new BudgetExceeded({ budget, of: this.of, limit, used })
  }
}
