/** What one simulated run of the server does: its connections, the messages of their clients, how clients read and end. Plain data. */
import type { ModelPlan } from "../scenario/Plan.ts"

/** A frame that is not a message, or a message that cannot be served. */
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

/** One step of a client. Ids are unique per connection, except where a step repeats one on purpose. */
export type WireStep =
  | { readonly do: "hello"; readonly id: number }
  | { readonly do: "pulse"; readonly id: number }
  | { readonly do: "codex"; readonly id: number; readonly text: string }
  /** A reply to the latest conversation that this client (`own`) or any client (`any`) knows, or to one that does not exist. */
  | {
      readonly do: "reply"
      readonly id: number
      readonly text: string
      readonly to: "own" | "any" | "unknown"
    }
  | { readonly do: "cancel"; readonly id: number }
  /** Listens to the latest conversation that this client knows; `after` is absent for a client of the original product. */
  | { readonly do: "listen"; readonly id: number; readonly after?: number; readonly raw: boolean }
  | { readonly do: "garbage"; readonly id: number; readonly what: Garbage }
  | { readonly do: "pause"; readonly ms: number }
  | { readonly do: "yield"; readonly times: number }

/** How a client reads. `slow`: pauses for `ms` after each read. `stops`: reads nothing after `takes` reads. */
export type WireReading =
  | { readonly how: "fast" }
  | { readonly how: "slow"; readonly ms: number }
  | { readonly how: "stops"; readonly takes: number }

/** What one client does. */
export interface WireClientPlan {
  /** Frames that the connection holds per direction. */
  readonly capacity: number
  readonly reading: WireReading
  readonly steps: ReadonlyArray<WireStep>
  /** `closes`: ends the input and reads the remaining output. `drops`: closes both directions at once. */
  readonly ends: "closes" | "drops"
}

/** What one wire run does. */
export interface WirePlan {
  readonly seed: number
  readonly model: ReadonlyArray<ModelPlan>
  readonly connections: ReadonlyArray<WireClientPlan>
  /** Numbers of the store's appends that fail, counted from 0. */
  readonly appendFaults: ReadonlyArray<number>
}

/** How long the server may run after the end of its input: its grace, its stop, its last responses, its flush, and the time of a slow reader. */
export const endBoundMs = 500 + 2_000 + 1_000 + 5_000 + 1_500

/** The kinds of faults that a plan holds, one entry for each occurrence. */
export const wireFaultsOf = (plan: WirePlan): ReadonlyArray<string> => [
  ...plan.model.flatMap(({ end, calls }) => [
    ...(end === "completed" ? [] : [`model ${end}`]),
    ...calls.flatMap((call) => (["ok", "emits", "asks"].includes(call) ? [] : [`tool ${call}`])),
  ]),
  ...plan.appendFaults.map(() => "wire store append fails"),
  ...plan.connections.flatMap(({ ends, reading, steps }) => [
    ends === "closes" ? "wire end of input" : "wire dropped",
    ...(reading.how === "fast" ? [] : [`wire reader ${reading.how}`]),
    ...steps.flatMap((step) => {
      if (step.do === "cancel") return ["wire cancel"]
      return step.do === "garbage" ? [`wire ${step.what}`] : []
    }),
  ]),
]

/** The parts that every kind of plan for connections has. */
interface Cuttable {
  readonly model: ReadonlyArray<ModelPlan>
  readonly connections: ReadonlyArray<{ readonly steps: ReadonlyArray<unknown> }>
  readonly appendFaults: ReadonlyArray<number>
}

/** Every plan that is this one with one part removed, the largest cuts first. */
export const smallerWire = function* <P extends Cuttable>(plan: P): Generator<P> {
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
