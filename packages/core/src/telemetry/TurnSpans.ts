/**
 * The spans of turns and of what happens in them, and the metrics that follow from them. A turn is found by its
 * conversation and its id; its parent is the span of the caller that submitted it.
 *
 *     the caller's span (often of another process)
 *       └─ invoke_agent colloquy           a turn
 *            ├─ chat MODEL                 a request to the model
 *            └─ execute_tool NAME          a tool call
 *                 └─ approval KIND         a question to a person
 *
 * A turn begins with its `task_started`, or with its first use of models or tools where these come first, because a turn
 * starts while its beginning is recorded. It ends with its terminal event, or with the conversation.
 */
import type { Event, EventOf } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import type * as Tracer from "effect/Tracer"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { ModelLabels, Metrics, Operation, TurnOutcome } from "./Metrics.ts"
import type { Attributes, OpenSpan, SpanEnd, Spans } from "./Spans.ts"

/** A turn whose span has not ended. */
interface OpenTurn extends OpenSpan {
  readonly labels: ModelLabels
  /** Open tool calls by their ids in events. */
  readonly calls: Map<string, OpenSpan>
  /** Pending questions by the ids of their calls. */
  readonly questions: Map<string, OpenSpan>
  inputTokens: number
  outputTokens: number
  /** The error type of the last request to the model, if it failed. */
  lastError?: string | undefined
  failed?: boolean
}

interface Tracked {
  /** The spans of the callers whose turns have not begun, by the ids of these. */
  readonly callers: Map<string, Tracer.AnySpan>
  /** Open turns by their ids. The last one is the one that runs. */
  readonly turns: Map<string, OpenTurn>
}

/** The settings of which a turn's span tells. */
type TurnSettings = Pick<ConversationSettings, "model" | "provider">

type Request =
  | EventOf<"exec_approval_request">
  | EventOf<"apply_patch_approval_request">
  | EventOf<"tool_approval_request">
  | EventOf<"elicitation_request">
  | EventOf<"request_user_input">
  | EventOf<"request_permissions">

const kinds = {
  exec_approval_request: "exec",
  apply_patch_approval_request: "patch",
  tool_approval_request: "tool",
  elicitation_request: "elicitation",
  request_user_input: "input",
  request_permissions: "permissions",
} as const satisfies Readonly<Record<Request["type"], string>>

const labelsOf = ({ model, provider }: TurnSettings): ModelLabels => ({
  provider: provider.id,
  model,
})

const errorTypeOf = (end: SpanEnd): string | undefined =>
  end._tag === "Failed" ? end.errorType : undefined

/** The open spans of all conversations. */
export class TurnSpans {
  private readonly spans: Spans
  private readonly metrics: Metrics
  private readonly tracked = new Map<ConversationId, Tracked>()

  constructor(spans: Spans, metrics: Metrics) {
    this.spans = spans
    this.metrics = metrics
  }

  /** A caller submitted what that turn will contain. No effect on a turn that runs. */
  submitted(conversation: ConversationId, turn: string, caller: Tracer.AnySpan): void {
    const { callers, turns } = this.of(conversation)
    if (!turns.has(turn)) callers.set(turn, caller)
  }

  /** Begins the turn, unless it has begun. */
  begin(conversation: ConversationId, id: string, settings: TurnSettings): OpenTurn {
    const { callers, turns } = this.of(conversation)
    const running = turns.get(id)
    if (running !== undefined) return running
    const labels = labelsOf(settings)
    const span = this.spans.start("invoke_agent colloquy", "internal", callers.get(id), {
      ...this.attributesOf("invoke_agent", conversation, labels),
      "gen_ai.agent.name": "colloquy",
      "colloquy.turn.id": id,
    })
    callers.delete(id)
    const turn = {
      ...span,
      labels,
      calls: new Map(),
      questions: new Map(),
      inputTokens: 0,
      outputTokens: 0,
    }
    turns.set(id, turn)
    return turn
  }

  /** Follows the events of a commit. */
  committed(
    conversation: ConversationId,
    events: ReadonlyArray<Event>,
    settings: TurnSettings,
  ): void {
    for (const { id, msg } of events) {
      switch (msg.type) {
        case "task_started":
          this.begin(conversation, id, settings)
          break
        case "error": {
          const turn = this.turnOf(conversation, id)
          if (turn !== undefined) turn.failed = true
          break
        }
        case "exec_approval_request":
        case "apply_patch_approval_request":
        case "tool_approval_request":
        case "elicitation_request":
        case "request_user_input":
        case "request_permissions":
          this.asked(conversation, id, msg)
          break
        case "approval_resolved":
          this.resolved(conversation, id, msg)
          break
        case "task_complete": {
          const failed = this.turnOf(conversation, id)?.failed === true
          this.ended(conversation, id, failed ? "failed" : "completed")
          break
        }
        case "turn_aborted":
          this.ended(conversation, id, msg.reason)
          break
        default:
          break
      }
    }
  }

  /** A request to the model of the running turn begins. Returns what to call with its end. */
  request(
    conversation: ConversationId,
    settings: TurnSettings,
  ): (end: SpanEnd, usage: TokenUsage | undefined) => void {
    const labels = labelsOf(settings)
    const turn = Array.from(this.tracked.get(conversation)?.turns.values() ?? []).at(-1)
    const open = this.spans.start(`chat ${settings.model}`, "client", turn?.span, {
      ...this.attributesOf("chat", conversation, labels),
    })
    return (end, usage) => {
      if (usage !== undefined) {
        this.metrics.tokens(labels, usage)
        if (turn !== undefined) {
          turn.inputTokens += usage.input_tokens
          turn.outputTokens += usage.output_tokens
        }
      }
      if (turn !== undefined) turn.lastError = errorTypeOf(end)
      this.finish("chat", labels, open, end, {
        "gen_ai.usage.input_tokens": usage?.input_tokens,
        "gen_ai.usage.output_tokens": usage?.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage?.cached_input_tokens,
      })
    }
  }

  /** A tool call of the turn begins. Returns what to call with its end. `id` is its id in events. */
  call(
    conversation: ConversationId,
    turn: OpenTurn,
    { id, name }: { readonly id: string; readonly name: string },
  ): (end: SpanEnd) => void {
    const open = this.spans.start(`execute_tool ${name}`, "internal", turn.span, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.conversation.id": conversation,
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": id,
    })
    turn.calls.set(id, open)
    return (end) => {
      turn.calls.delete(id)
      this.finish("execute_tool", turn.labels, open, end)
    }
  }

  /** The conversation is in memory no longer: a turn that has no terminal event yet gets it with the next load. */
  closed(conversation: ConversationId): void {
    for (const turn of this.tracked.get(conversation)?.turns.values() ?? []) {
      this.close(turn, { _tag: "Failed", errorType: "conversation_closed" }, {})
    }
    this.tracked.delete(conversation)
  }

  private of(conversation: ConversationId): Tracked {
    const known = this.tracked.get(conversation)
    if (known !== undefined) return known
    const tracked: Tracked = { callers: new Map(), turns: new Map() }
    this.tracked.set(conversation, tracked)
    return tracked
  }

  private turnOf(conversation: ConversationId, id: string): OpenTurn | undefined {
    return this.tracked.get(conversation)?.turns.get(id)
  }

  private attributesOf(
    operation: Operation,
    conversation: ConversationId,
    { model, provider }: ModelLabels,
  ): Attributes {
    return {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      "gen_ai.conversation.id": conversation,
    }
  }

  private finish(
    operation: Operation,
    labels: ModelLabels,
    open: OpenSpan,
    end: SpanEnd,
    attributes?: Attributes,
  ): void {
    const seconds = this.spans.end(open, end, attributes)
    this.metrics.operation(operation, labels, seconds, errorTypeOf(end))
  }

  private asked(conversation: ConversationId, id: string, msg: Request): void {
    const turn = this.turnOf(conversation, id)
    if (turn === undefined) return
    const callId = msg.type === "elicitation_request" ? msg.id : msg.call_id
    const kind = kinds[msg.type]
    const parent = turn.calls.get(callId) ?? turn
    turn.questions.set(
      callId,
      this.spans.start(`approval ${kind}`, "internal", parent.span, {
        "gen_ai.conversation.id": conversation,
        "gen_ai.tool.call.id": callId,
        "colloquy.approval.kind": kind,
      }),
    )
  }

  private resolved(
    conversation: ConversationId,
    id: string,
    { call_id, decision, reason }: EventOf<"approval_resolved">,
  ): void {
    const turn = this.turnOf(conversation, id)
    const open = turn?.questions.get(call_id)
    if (turn === undefined || open === undefined) return
    turn.questions.delete(call_id)
    const seconds = this.spans.end(
      open,
      { _tag: "Ended" },
      {
        "colloquy.approval.decision": decision,
        "colloquy.approval.reason": reason,
      },
    )
    this.metrics.question(reason, seconds)
  }

  private ended(conversation: ConversationId, id: string, outcome: TurnOutcome): void {
    this.metrics.turn(outcome)
    const tracked = this.tracked.get(conversation)
    if (tracked === undefined) return
    const turn = tracked.turns.get(id)
    tracked.turns.delete(id)
    tracked.callers.delete(id)
    if (tracked.turns.size + tracked.callers.size === 0) this.tracked.delete(conversation)
    if (turn === undefined) return
    const end: SpanEnd =
      outcome === "completed"
        ? { _tag: "Ended" }
        : outcome === "failed"
          ? { _tag: "Failed", errorType: turn.lastError ?? "_OTHER" }
          : { _tag: "Interrupted" }
    this.close(turn, end, { "colloquy.turn.outcome": outcome })
  }

  private close(turn: OpenTurn, end: SpanEnd, attributes: Attributes): void {
    for (const open of turn.questions.values()) this.spans.end(open, { _tag: "Interrupted" })
    const { inputTokens, outputTokens } = turn
    this.finish("invoke_agent", turn.labels, turn, end, {
      ...attributes,
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.output_tokens": outputTokens,
    })
  }
}
