/**
 * The metrics of conversations, in the registry of Effect. Those of the OpenTelemetry conventions for generative AI have the
 * names, units and boundaries of these; `packages/docs/observability.md` describes every one.
 */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import type { ConversationLoad } from "../ConversationObserver.ts"
import { BoundedNames } from "./BoundedNames.ts"

/** Powers of four from 1 to 64 Mi: those of the conventions. */
const tokenBoundaries = Array.from({ length: 14 }, (_, index) => 4 ** index)

/** Powers of two from 10 ms on: those of the conventions, and three more, because a turn takes longer than a request. */
const secondBoundaries = Array.from({ length: 17 }, (_, index) => 0.01 * 2 ** index)

const tokenUsage = Metric.histogram("gen_ai.client.token.usage", {
  description: "Tokens of the requests to models, by token type.",
  boundaries: Metric.boundariesFromIterable(tokenBoundaries),
  attributes: { unit: "{token}" },
})

const operationDuration = Metric.histogram("gen_ai.client.operation.duration", {
  description:
    "Seconds of turns (invoke_agent), requests to models (chat) and tool calls (execute_tool).",
  boundaries: Metric.boundariesFromIterable(secondBoundaries),
  attributes: { unit: "s" },
})

const turns = Metric.counter("colloquy.turns", {
  description: "Turns that ended, by outcome.",
  incremental: true,
})

const questionDuration = Metric.histogram("colloquy.question.duration", {
  description: "Seconds from a question to its resolution, by the reason of the resolution.",
  boundaries: Metric.boundariesFromIterable(secondBoundaries),
  attributes: { unit: "s" },
})

const evictions = Metric.counter("colloquy.evictions", {
  description: "Idle conversations that were evicted from memory.",
  incremental: true,
})

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

type Loads = ReadonlyArray<ConversationLoad>

const sum = (loads: Loads, of: (load: ConversationLoad) => number): number =>
  loads.reduce((total, load) => total + of(load), 0)

const longest = (loads: Loads, of: (load: ConversationLoad) => number): number =>
  loads.reduce((most, load) => Math.max(most, of(load)), 0)

/** What is measured when somebody looks, each with how it follows from the conversations in memory. */
const measured: ReadonlyArray<
  readonly [gauge: Metric.Gauge<number>, value: (loads: Loads) => number]
> = [
  [gauge("colloquy.conversations.loaded", "Conversations in memory."), (loads) => loads.length],
  [
    gauge("colloquy.turns.running", "Turns that run now."),
    (loads) => sum(loads, ({ isRunning }) => (isRunning ? 1 : 0)),
  ],
  [
    gauge("colloquy.questions.pending", "Questions to a person that are pending now."),
    (loads) => sum(loads, ({ pendingQuestions }) => pendingQuestions),
  ],
  [
    gauge("colloquy.inputs.queued", "Submissions that wait for a turn of their own."),
    (loads) => sum(loads, ({ queuedInputs }) => queuedInputs),
  ],
  [
    gauge(
      "colloquy.inbox.longest",
      "Unread commands of the conversation that has most; the limit is 64.",
    ),
    (loads) => longest(loads, ({ unreadCommands }) => unreadCommands),
  ],
  [
    gauge("colloquy.listeners", "Listeners that are attached now."),
    (loads) => sum(loads, ({ listeners }) => listeners),
  ],
  [
    gauge("colloquy.listener.lag", "Events that the slowest listener has not read."),
    (loads) => longest(loads, ({ longestLag }) => longestLag),
  ],
]

const definitions: ReadonlyArray<Metric.Metric<number, unknown>> = [
  tokenUsage,
  operationDuration,
  turns,
  questionDuration,
  evictions,
  ...measured.map(([metric]) => metric),
]

const suffixes: ReadonlyMap<string, string> = new Map(
  definitions.map(({ id }) => {
    if (id === turns.id || id === evictions.id) return [id, ".total"]
    return [id, id.endsWith(".duration") ? ".seconds" : ""]
  }),
)

/** The name of a metric for Prometheus, before dots become underscores: counters end with `total`, durations with their unit. */
export const prometheusName = (name: string): string => `${name}${suffixes.get(name) ?? ""}`

/** How a turn ended. */
export const turnOutcomes = [
  "completed",
  "failed",
  "interrupted",
  "replaced",
  "review_ended",
] as const
/** One of these. */
export type TurnOutcome = (typeof turnOutcomes)[number]

/** The operations whose durations are measured, by the names of the conventions. */
export type Operation = "invoke_agent" | "chat" | "execute_tool"

/** Whose model an operation uses. */
export interface ModelLabels {
  readonly provider: string
  readonly model: string
}

/** The metrics in the registry of one context. */
export class Metrics {
  private readonly context: Context.Context<never>
  private readonly providers = new BoundedNames()
  private readonly models = new BoundedNames()
  private readonly managers = new Set<() => Loads>()

  constructor(context: Context.Context<never>) {
    this.context = context
    // A counter that does not exist before its first increment hides that increment from every rate.
    for (const outcome of turnOutcomes) this.update(turns, 0, { outcome })
    this.update(evictions, 0)
  }

  /** The gauges are evaluated when the registry is read, and removed with the returned function. */
  register(): () => void {
    const loads = () => Array.from(this.managers).flatMap((of) => of())
    const registrations = measured.map(([metric, value]) =>
      Metric.registerUnsafe(metric, this.context, {
        get: () => ({ value: value(loads()) }),
        update: () => {},
        modify: () => {},
      }),
    )
    return () => {
      for (const registration of registrations) registration.remove()
    }
  }

  /** Measures the conversations of a manager, until the returned function is called. */
  measure(loads: () => Loads): () => void {
    this.managers.add(loads)
    return () => this.managers.delete(loads)
  }

  /** The tokens of one request. */
  tokens(labels: ModelLabels, { input_tokens, output_tokens }: TokenUsage): void {
    const all = { "gen_ai.operation.name": "chat", ...this.labelsOf(labels) }
    this.update(tokenUsage, input_tokens, { ...all, "gen_ai.token.type": "input" })
    this.update(tokenUsage, output_tokens, { ...all, "gen_ai.token.type": "output" })
  }

  /** The duration of one operation, in seconds. */
  operation(
    operation: Operation,
    labels: ModelLabels,
    seconds: number,
    errorType: string | undefined,
  ): void {
    this.update(operationDuration, seconds, {
      "gen_ai.operation.name": operation,
      ...this.labelsOf(labels),
      ...(errorType === undefined ? {} : { "error.type": errorType }),
    })
  }

  /** A turn has ended. */
  turn(outcome: TurnOutcome): void {
    this.update(turns, 1, { outcome })
  }

  /** A question was resolved after so many seconds. */
  question(reason: string, seconds: number): void {
    this.update(questionDuration, seconds, { reason })
  }

  /** A conversation was evicted. */
  evicted(): void {
    this.update(evictions, 1)
  }

  private labelsOf({ model, provider }: ModelLabels): Metric.Metric.AttributeSet {
    return {
      "gen_ai.provider.name": this.providers.of(provider),
      "gen_ai.request.model": this.models.of(model),
    }
  }

  private update(
    metric: Metric.Metric<number, unknown>,
    value: number,
    labels?: Metric.Metric.AttributeSet,
  ): void {
    const labelled = labels === undefined ? metric : Metric.withAttributes(metric, labels)
    labelled.updateUnsafe(value, this.context)
  }
}
