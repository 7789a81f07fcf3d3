/** Follows one turn of a conversation to its end: answers its questions, counts its tokens, reads how it ended. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { commandText, isInline, pathText } from "@colloquy/core/question/CommandText"
import type { Event, EventOf } from "@colloquy/protocol/EventMsg"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import { ReviewDecision } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import {
  type BudgetExceeded,
  TurnFailed,
  TurnInterrupted,
  TurnLost,
  type TurnError,
} from "../AgentErrors.ts"
import type { OnApproval, Question } from "../Approval.ts"
import type { Account } from "../Budget.ts"
import type { ToolsByName } from "./ChatTools.ts"
import { BadOption } from "./OptionErrors.ts"
import { shown } from "./Options.ts"

/** What following takes. */
export interface FollowOptions {
  readonly turnId: string
  readonly conversation: Conversation
  /** Attached before the turn was submitted. */
  readonly listener: Listener
  readonly account: Account
  readonly tools: ToolsByName
  /** Answers the questions of the turn. Absent: the listener gets none. */
  readonly onApproval: OnApproval<never> | undefined
}

/** The answer of a turn. */
export interface Answered {
  /** Its last message, empty when there was none. */
  readonly text: string
}

/** How a turn ended. */
export interface Followed {
  /** The answer, or why there is none. */
  readonly outcome: Result.Result<Answered, TurnError>
  /** Of each response that the provider reported usage of. */
  readonly usages: ReadonlyArray<TokenUsage>
}

const isDecision = Schema.is(ReviewDecision)

/** The decision that an answer stands for. Dies for a value that is none, which types cannot exclude in every program. */
const decisionOf = (answer: unknown): Effect.Effect<ReviewDecision> => {
  if (answer === true) return Effect.succeed("approved")
  if (answer === false) return Effect.succeed("denied")
  return isDecision(answer)
    ? Effect.succeed(answer)
    : Effect.die(
        new BadOption({
          option: "the answer of onApproval",
          expected: `true, false or one of ${ReviewDecision.literals.join(", ")}, or an Effect of one`,
          got: shown(answer),
        }),
      )
}

/** What a question is about, and the op that answers it. */
interface Subject {
  readonly op: "tool_approval" | "exec_approval" | "patch_approval" | "permissions_approval"
  readonly callId: string
  readonly tool: string
  readonly reason: string
  /** Reads the input; throws for arguments that the tool has never accepted. */
  readonly input: () => unknown
}

/** The command itself, where the reason does not have it below already, and the reason. */
const commandReason = ({ command, cwd, reason = "" }: EventOf<"exec_approval_request">): string =>
  isInline(command, cwd)
    ? `The command: \`${commandText(command)}\` in \`${pathText(cwd)}\`\n${reason}`
    : reason

/** The question of an event; undefined for one that is none, or not one of an agent's. */
const subjectOf = (msg: Event["msg"], tools: ToolsByName): Subject | undefined => {
  switch (msg.type) {
    case "tool_approval_request":
      return {
        op: "tool_approval",
        callId: msg.call_id,
        tool: msg.tool,
        reason: msg.reason ?? "",
        input: () => tools.get(msg.tool)?.inputOf(msg.arguments),
      }
    case "exec_approval_request":
      return {
        op: "exec_approval",
        callId: msg.call_id,
        tool: "shell",
        reason: commandReason(msg),
        input: () => ({ command: msg.command, cwd: msg.cwd }),
      }
    case "request_permissions":
      return {
        op: "permissions_approval",
        callId: msg.call_id,
        tool: "request_permissions",
        reason: msg.reason ?? "",
        input: () => ({ permissions: msg.permissions, cwd: msg.cwd }),
      }
    case "apply_patch_approval_request":
      return {
        op: "patch_approval",
        callId: msg.call_id,
        tool: "apply_patch",
        reason: msg.reason ?? "",
        input: () => ({ changes: msg.changes }),
      }
    default:
      return undefined
  }
}

class Following {
  readonly usages: Array<TokenUsage> = []
  private readonly options: FollowOptions
  private readonly answering = new Map<string, Fiber.Fiber<void>>()
  /** The budget that ended the turn. */
  private exceeded: BudgetExceeded | undefined
  /** Text of its last `error` event. */
  private problem: string | undefined

  constructor(options: FollowOptions) {
    this.options = options
  }

  get run(): Effect.Effect<Followed["outcome"], never, Scope.Scope> {
    const { account, conversation, listener, turnId } = this.options
    const lost = (reason: string) => Result.fail(new TurnLost({ turnId, reason }))
    return Effect.gen({ self: this }, function* () {
      yield* Effect.forkScoped(
        Effect.catch(account.whenExceeded, (exceeded) => this.stop(exceeded)),
      )
      while (true) {
        const taken = yield* Effect.result(listener.take)
        if (Result.isFailure(taken)) {
          const { failure } = taken
          return lost("id" in failure ? failure.message : "the conversation has ended")
        }
        for (const delivery of taken.success) {
          if (delivery._tag === "Ask") yield* this.answer(delivery.event)
          else if (delivery._tag === "Event" && delivery.event.id === turnId) {
            const outcome = yield* this.read(delivery.event)
            if (outcome !== undefined) return outcome
          }
        }
      }
    }).pipe(Effect.onInterrupt(() => conversation.cancel(turnId)))
  }

  private stop(exceeded: BudgetExceeded): Effect.Effect<void> {
    this.exceeded ??= exceeded
    return this.options.conversation.cancel(this.options.turnId)
  }

  /** Reads one event of the turn; the outcome if it was the last one. */
  private read({ msg }: Event): Effect.Effect<Followed["outcome"] | undefined, never, Scope.Scope> {
    const { turnId } = this.options
    return Effect.gen({ self: this }, function* () {
      switch (msg.type) {
        case "error":
          this.problem = msg.message
          return undefined
        case "token_count":
          yield* this.count(msg)
          return undefined
        case "approval_resolved":
          yield* this.withdraw(msg.call_id)
          return undefined
        case "turn_aborted":
          return Result.fail(this.exceeded ?? new TurnInterrupted({ turnId, reason: msg.reason }))
        case "task_complete": {
          if (this.exceeded !== undefined) return Result.fail(this.exceeded)
          const text = msg.last_agent_message
          return text === null && this.problem !== undefined
            ? Result.fail(new TurnFailed({ turnId, message: this.problem }))
            : Result.succeed({ text: text ?? "" })
        }
        default:
          return undefined
      }
    })
  }

  private count({ info }: EventOf<"token_count">): Effect.Effect<void> {
    const { account } = this.options
    if (info === null) return Effect.void
    this.usages.push(info.last_token_usage)
    return Effect.flatMap(account.spend(info.last_token_usage.total_tokens), () => {
      const { exceeded } = account
      return exceeded === undefined ? Effect.void : this.stop(exceeded)
    })
  }

  /** The question was resolved: whoever is still asked need not answer. */
  private withdraw(callId: string): Effect.Effect<void, never, Scope.Scope> {
    const fiber = this.answering.get(callId)
    this.answering.delete(callId)
    return fiber === undefined
      ? Effect.void
      : Effect.asVoid(Effect.forkScoped(Fiber.interrupt(fiber)))
  }

  /** Puts a question to the policy, and goes on reading meanwhile. */
  private answer(event: Event): Effect.Effect<void, never, Scope.Scope> {
    const { msg } = event
    const { conversation, onApproval, tools, turnId } = this.options
    const asked = subjectOf(msg, tools)
    if (asked === undefined || onApproval === undefined) return Effect.void
    const { callId, input, op, reason, tool } = asked
    const ask = Effect.suspend(() => {
      const question: Question = {
        tool,
        input: input(),
        reason,
        callId,
        turnId,
        conversationId: conversation.id,
      }
      // The policy takes exactly the questions of the agent's tools.
      const answer = onApproval(question as never)
      return Effect.isEffect(answer) ? Effect.scoped(answer) : Effect.succeed(answer)
    })
    const submit = (decision: ReviewDecision, because?: "failed") =>
      conversation.submit(
        { type: op, id: callId, decision, question: event.seq },
        because === undefined ? {} : { because },
      )
    const answering = ask.pipe(
      Effect.flatMap(decisionOf),
      Effect.matchCauseEffect({
        onSuccess: (decision) => submit(decision),
        onFailure: (cause) =>
          Effect.andThen(Effect.logError("onApproval failed", cause), submit("denied", "failed")),
      }),
      // Somebody else has answered, or the turn is over: both are in its events.
      Effect.catch((error) => Effect.logDebug("an answer to a question was late", error)),
      Effect.asVoid,
    )
    return Effect.map(Effect.forkScoped(answering), (fiber) => {
      this.answering.set(callId, fiber)
    })
  }
}

/** Resolves when the turn is over. Interrupting it interrupts the turn. */
export const follow = (options: FollowOptions): Effect.Effect<Followed, never, Scope.Scope> => {
  const following = new Following(options)
  return Effect.map(following.run, (outcome) => ({ outcome, usages: following.usages }))
}
