/**
 * Observes conversations with the tracer, the clock and the metrics of the context in which the layer is built: a span for
 * each turn, request to a model, tool call and approval, and the metrics of `Metrics.ts`. No span and no metric contains
 * what a person, a model or a tool has said.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import { ConversationObserver } from "../ConversationObserver.ts"
import { ModelClient } from "../ModelClient.ts"
import { ToolRuntime } from "../ToolRuntime.ts"
import { Metrics } from "./Metrics.ts"
import { observedModels, observedTools } from "./ObservedServices.ts"
import { Spans } from "./Spans.ts"
import { TurnSpans } from "./TurnSpans.ts"

const make = Effect.gen(function* () {
  const metrics = new Metrics(yield* Effect.context())
  const spans = new TurnSpans(new Spans(yield* Tracer.Tracer, yield* Clock.Clock), metrics)
  yield* Effect.acquireRelease(
    Effect.sync(() => metrics.register()),
    (remove) => Effect.sync(remove),
  )
  const observer: ConversationObserver = {
    submitted: (...of) => spans.submitted(...of),
    committed: (...of) => spans.committed(...of),
    closed: (conversation) => spans.closed(conversation),
    evicted: () => metrics.evicted(),
    observe: (services) =>
      services.pipe(
        Context.add(ModelClient, observedModels(Context.get(services, ModelClient), spans)),
        Context.add(ToolRuntime, observedTools(Context.get(services, ToolRuntime), spans)),
      ),
    measure: (loads) => metrics.measure(loads),
  }
  return observer
})

/** Provides the observer to every manager that is built with this layer. */
export const layer: Layer.Layer<never> = Layer.effect(ConversationObserver, make)
