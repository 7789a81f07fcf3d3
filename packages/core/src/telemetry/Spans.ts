/**
 * Starts and ends spans with the tracer itself. Nothing of a conversation runs within a span: where nobody observes it there
 * is none, and no fiber carries one.
 */
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"

/** What a span says about its operation, by the names of the OpenTelemetry conventions. Absent values are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

/** A span that has not ended. */
export interface OpenSpan {
  readonly span: Tracer.Span
  readonly startedAt: bigint
}

/** How an operation ended: regularly, with an error of this type, or because it was interrupted. */
export type SpanEnd =
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Failed"; readonly errorType: string }
  | { readonly _tag: "Interrupted" }

const add = (span: Tracer.Span, attributes: Attributes): void => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) span.attribute(name, value)
  }
}

const exitOf = (end: SpanEnd): Exit.Exit<void, string> => {
  switch (end._tag) {
    case "Ended":
      return Exit.void
    case "Failed":
      // Only the type: a message may quote what a person has written.
      return Exit.fail(end.errorType)
    case "Interrupted":
      return Exit.interrupt()
  }
}

/** The spans of one tracer, timed by one clock. */
export class Spans {
  private readonly tracer: Tracer.Tracer
  private readonly clock: Clock.Clock

  constructor(tracer: Tracer.Tracer, clock: Clock.Clock) {
    this.tracer = tracer
    this.clock = clock
  }

  /** Starts a span now; one without a parent begins a trace. */
  start(
    name: string,
    kind: Tracer.SpanKind,
    parent: Tracer.AnySpan | undefined,
    attributes: Attributes,
  ): OpenSpan {
    const startedAt = this.clock.currentTimeNanosUnsafe()
    const span = this.tracer.span({
      name,
      kind,
      parent: Option.fromUndefinedOr(parent),
      annotations: Context.empty(),
      links: [],
      startTime: startedAt,
      root: parent === undefined,
      sampled: parent?.sampled ?? true,
    })
    add(span, attributes)
    return { span, startedAt }
  }

  /** Ends a span now, and returns its duration in seconds. */
  end({ span, startedAt }: OpenSpan, end: SpanEnd, attributes: Attributes = {}): number {
    const endedAt = this.clock.currentTimeNanosUnsafe()
    add(span, attributes)
    if (end._tag === "Failed") span.attribute("error.type", end.errorType)
    span.end(endedAt, exitOf(end))
    return Number(endedAt - startedAt) / 1e9
  }
}
