/**
 * What one simulated run of clients without a handshake does (revision 2026-07-28 of MCP): the principals of the connections,
 * their messages in order, how clients read and end, and how long sealing takes. Plain data.
 */
import type { Source } from "./StatelessKnown.ts"
import type { ModelPlan } from "../scenario/Plan.ts"
import type { WireReading } from "../wire/WirePlan.ts"

/** `form` asks twice, one question after the other, `long` may become a task; both are tools of the embedder. */
export type StatelessTool = "codex" | "form" | "long"

/** The capabilities that a request declares. */
export interface Declares {
  readonly forms: boolean
  readonly tasks: boolean
  readonly events: boolean
}

/** How a question is answered. `half`: only one of several. `tampered`: with a changed state. `elsewhere`: in a call with other arguments. */
export type Answering = "yes" | "no" | "wrong" | "half" | "nothing" | "tampered" | "elsewhere"

/** The request about a task; `yes` and `wrong` update it with answers. */
export type OfTask = "get" | "cancel" | "yes" | "wrong"

/** A request that must be refused. */
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

/** One step of a client. Ids are unique per connection, except where a step repeats one on purpose. */
export type StatelessStep =
  | { readonly do: "discover"; readonly id: number }
  | {
      readonly do: "call"
      readonly id: number
      readonly tool: StatelessTool
      /** Part of the arguments; no two calls have the same. */
      readonly text: string
      readonly declares: Declares
    }
  | {
      readonly do: "answer"
      readonly id: number
      readonly of: Source
      readonly how: Answering
    }
  | { readonly do: "cancel"; readonly id: number }
  | {
      readonly do: "listen"
      readonly id: number
      readonly tools: boolean
      readonly resource: boolean
      readonly task: boolean
    }
  | {
      readonly do: "task"
      readonly id: number
      readonly does: OfTask
      readonly of: "own" | "any" | "unknown"
    }
  /** The embedder changes its tools or its resource at this point; the client sends nothing. */
  | { readonly do: "change"; readonly what: "tools" | "resource" }
  | { readonly do: "garbage"; readonly id: number; readonly what: StatelessGarbage }
  /** A handshake on the same connection. */
  | { readonly do: "hello"; readonly id: number }
  | { readonly do: "pause"; readonly ms: number }
  | { readonly do: "yield"; readonly times: number }

/** What one client does. */
export interface StatelessClientPlan {
  readonly principal: string
  /** Frames that the connection holds per direction. */
  readonly capacity: number
  readonly reading: WireReading
  readonly steps: ReadonlyArray<StatelessStep>
  /** `closes`: ends the input and reads the remaining output. `drops`: closes both directions at once. */
  readonly ends: "closes" | "drops"
}

/** What one run does. */
export interface StatelessPlan {
  readonly seed: number
  readonly model: ReadonlyArray<ModelPlan>
  /** The yields and milliseconds that sealing, and opening a seal, takes. */
  readonly sealing: { readonly yields: number; readonly ms: number }
  readonly connections: ReadonlyArray<StatelessClientPlan>
}

/** Milliseconds for which a request state is valid and a task is kept. */
export const anHourMs = 3_600_000

/** The kinds of faults that a plan holds, one entry for each occurrence. */
export const statelessFaultsOf = (plan: StatelessPlan): ReadonlyArray<string> => [
  ...plan.model.flatMap(({ end, calls }) => [
    ...(end === "completed" ? [] : [`model ${end}`]),
    ...calls.flatMap((call) => (["ok", "emits", "asks"].includes(call) ? [] : [`tool ${call}`])),
  ]),
  ...plan.connections.flatMap(({ ends, reading, steps }) => [
    ends === "closes" ? "stateless end of input" : "stateless dropped",
    ...(reading.how === "fast" ? [] : [`stateless reader ${reading.how}`]),
    ...steps.flatMap((step) => {
      if (step.do === "cancel") return ["stateless cancel"]
      if (step.do === "pause" && step.ms > anHourMs) return ["stateless too late"]
      if (step.do === "answer" && step.how !== "yes" && step.how !== "no") {
        return [`stateless answer ${step.how}`]
      }
      return step.do === "garbage" ? [`stateless ${step.what}`] : []
    }),
  ]),
]

/** Every plan that is this one with one part removed, the largest cuts first. */
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
