/**
 * What one simulated run of clients without a handshake does (2026-07-28): whose connections, what they say in which order,
 * how they read and end, and how long a seal takes. Plain data.
 */
import type { Whose } from "./StatelessKnown.ts"
import type { ModelPlan } from "../scenario/Plan.ts"
import type { WireReading } from "../wire/WirePlan.ts"

/** `form` asks twice, `long` may become a task; both are an embedder's. */
export type StatelessTool = "codex" | "form" | "long"

export interface Declares {
  readonly forms: boolean
  readonly tasks: boolean
  readonly events: boolean
}

/** How a question is answered. `half`: one of several. `elsewhere`: in a call with other arguments. */
export type Answering = "yes" | "no" | "wrong" | "half" | "nothing" | "tampered" | "elsewhere"

/** What is asked of a task; `yes` and `wrong` update it. */
export type OfTask = "get" | "cancel" | "yes" | "wrong"

export type StatelessGarbage =
  | "no meta"
  | "half a meta"
  | "unknown revision"
  | "removed method"
  | "old tasks"
  | "undeclared tasks"
  | "no tool"
  | "batch"
  | "bad cursor"

/** Ids are unique per connection, but for what repeats one on purpose. */
export type StatelessStep =
  | { readonly say: "discover"; readonly id: number }
  | {
      readonly say: "call"
      readonly id: number
      readonly tool: StatelessTool
      /** No two calls share it. */
      readonly text: string
      readonly declares: Declares
    }
  | {
      readonly say: "answer"
      readonly id: number
      readonly of: Whose
      readonly how: Answering
    }
  | { readonly say: "cancel"; readonly id: number }
  | {
      readonly say: "listen"
      readonly id: number
      readonly tools: boolean
      readonly resource: boolean
      readonly task: boolean
    }
  | {
      readonly say: "task"
      readonly id: number
      readonly does: OfTask
      readonly of: "own" | "any" | "unknown"
    }
  /** The embedder changes something: said to nobody, but in its place. */
  | { readonly say: "change"; readonly what: "tools" | "resource" }
  | { readonly say: "garbage"; readonly id: number; readonly what: StatelessGarbage }
  /** A handshake on the same connection. */
  | { readonly say: "hello"; readonly id: number }
  | { readonly say: "pause"; readonly ms: number }
  | { readonly say: "yield"; readonly times: number }

export interface StatelessClientPlan {
  readonly principal: string
  readonly capacity: number
  readonly reading: WireReading
  readonly steps: ReadonlyArray<StatelessStep>
  readonly ends: "closes" | "drops"
}

export interface StatelessPlan {
  readonly seed: number
  readonly model: ReadonlyArray<ModelPlan>
  /** What a seal, and its opening, takes. */
  readonly sealing: { readonly yields: number; readonly ms: number }
  readonly connections: ReadonlyArray<StatelessClientPlan>
}

/** How long a client may take to come back with its answers, and a task is kept. */
export const anHourMs = 3_600_000

export const statelessFaultsOf = (plan: StatelessPlan): ReadonlyArray<string> => [
  ...plan.model.flatMap(({ end, calls }) => [
    ...(end === "completed" ? [] : [`model ${end}`]),
    ...calls.flatMap((call) => (["ok", "tells", "asks"].includes(call) ? [] : [`tool ${call}`])),
  ]),
  ...plan.connections.flatMap(({ ends, reading, steps }) => [
    ends === "closes" ? "stateless end of input" : "stateless dropped",
    ...(reading.how === "fast" ? [] : [`stateless reader ${reading.how}`]),
    ...steps.flatMap((step) => {
      if (step.say === "cancel") return ["stateless cancel"]
      if (step.say === "pause" && step.ms > anHourMs) return ["stateless too late"]
      if (step.say === "answer" && step.how !== "yes" && step.how !== "no") {
        return [`stateless answer ${step.how}`]
      }
      return step.say === "garbage" ? [`stateless ${step.what}`] : []
    }),
  ]),
]

/** Every plan that is this one with a little less, the greatest cuts first. */
export const smallerStateless = function* (plan: StatelessPlan): Generator<StatelessPlan> {
  const { connections, model, sealing } = plan
  for (let i = 0; i < connections.length; i++) {
    if (connections.length > 1) yield { ...plan, connections: connections.toSpliced(i, 1) }
  }
  for (const [i, connection] of connections.entries()) {
    const { steps } = connection
    for (let size = Math.max(1, steps.length >> 1); size >= 1; size >>= 1) {
      for (let at = 0; at + size <= steps.length; at += size) {
        const less = { ...connection, steps: steps.toSpliced(at, size) }
        yield { ...plan, connections: connections.with(i, less) }
      }
    }
  }
  for (let i = 0; i < model.length; i++) {
    if (model.length > 1) yield { ...plan, model: model.toSpliced(i, 1) }
  }
  for (const [i, response] of model.entries()) {
    for (let call = 0; call < response.calls.length; call++) {
      const calls = response.calls.toSpliced(call, 1)
      yield { ...plan, model: model.with(i, { ...response, calls }) }
    }
    if (response.pieces > 1) {
      yield { ...plan, model: model.with(i, { ...response, pieces: response.pieces >> 1 }) }
    }
  }
  if (sealing.ms > 0) yield { ...plan, sealing: { ...sealing, ms: 0 } }
  if (sealing.yields > 0) yield { ...plan, sealing: { ...sealing, yields: sealing.yields >> 1 } }
}
