/** What one simulated run of the server does: connections, what their clients say, how they read and end. Plain data. */
import type { ModelPlan } from "../scenario/Plan.ts"

/** What is no message, or one that cannot be served. */
export type Garbage =
  | "noise"
  | "batch"
  | "not UTF-8"
  | "too long"
  | "no method"
  | "bad params"
  | "no tool"
  | "bad arguments"
  | "answer to nothing"

/** Ids are unique per connection, but for what repeats one on purpose. */
export type WireStep =
  | { readonly say: "hello"; readonly id: number }
  | { readonly say: "pulse"; readonly id: number }
  | { readonly say: "codex"; readonly id: number; readonly text: string }
  /** To the conversation this client heard of last, or that any client did. */
  | {
      readonly say: "reply"
      readonly id: number
      readonly text: string
      readonly to: "own" | "any" | "unknown"
    }
  | { readonly say: "cancel"; readonly id: number }
  /** To the conversation this client heard of last; `after` is absent for a client of the original's. */
  | { readonly say: "listen"; readonly id: number; readonly after?: number; readonly raw: boolean }
  | { readonly say: "garbage"; readonly id: number; readonly what: Garbage }
  | { readonly say: "pause"; readonly ms: number }
  | { readonly say: "yield"; readonly times: number }

/** `stops` reads nothing any more after so many takes. */
export type WireReading =
  | { readonly how: "fast" }
  | { readonly how: "slow"; readonly ms: number }
  | { readonly how: "stops"; readonly takes: number }

export interface WireClientPlan {
  /** Frames in flight per direction. */
  readonly capacity: number
  readonly reading: WireReading
  readonly steps: ReadonlyArray<WireStep>
  /** `closes`: end of input, the rest is still read. `drops`: gone without a word. */
  readonly ends: "closes" | "drops"
}

export interface WirePlan {
  readonly seed: number
  readonly model: ReadonlyArray<ModelPlan>
  readonly connections: ReadonlyArray<WireClientPlan>
  /** Records of the store that fail, counted from 0. */
  readonly appendFaults: ReadonlyArray<number>
}

/** How long the server may go on after end of input: its grace, its stop, its last answers, its flush; and a slow reader's time. */
export const endBoundMs = 500 + 2_000 + 1_000 + 5_000 + 1_500

export const wireFaultsOf = (plan: WirePlan): ReadonlyArray<string> => [
  ...plan.model.flatMap(({ end, calls }) => [
    ...(end === "completed" ? [] : [`model ${end}`]),
    ...calls.flatMap((call) => (["ok", "tells", "asks"].includes(call) ? [] : [`tool ${call}`])),
  ]),
  ...plan.appendFaults.map(() => "wire store append fails"),
  ...plan.connections.flatMap(({ ends, reading, steps }) => [
    ends === "closes" ? "wire end of input" : "wire dropped",
    ...(reading.how === "fast" ? [] : [`wire reader ${reading.how}`]),
    ...steps.flatMap((step) => {
      if (step.say === "cancel") return ["wire cancel"]
      return step.say === "garbage" ? [`wire ${step.what}`] : []
    }),
  ]),
]

/** Every plan that is this one with a little less, the greatest cuts first. */
export const smallerWire = function* (plan: WirePlan): Generator<WirePlan> {
  const { appendFaults, connections, model } = plan
  for (let i = 0; i < appendFaults.length; i++) {
    yield { ...plan, appendFaults: appendFaults.toSpliced(i, 1) }
  }
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
    if (response.calls.length > 0) {
      yield { ...plan, model: model.with(i, { ...response, calls: [] }) }
    }
    if (response.pieces > 1) {
      yield { ...plan, model: model.with(i, { ...response, pieces: response.pieces >> 1 }) }
    }
  }
}
