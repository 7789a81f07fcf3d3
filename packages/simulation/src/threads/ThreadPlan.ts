/**
 * What one simulated run of clients of app-server v2 does: their requests in order, how they answer questions, read and end.
 * Plain data.
 */
import type { ModelPlan } from "../scenario/Plan.ts"
import { smallerWire, type WireReading } from "../wire/WirePlan.ts"

/** A request that must be refused, or a message that is ignored. */
export type ThreadGarbage =
  | "noise"
  | "no method"
  | "no params"
  | "no thread"
  | "empty input"
  | "answer to nothing"

/** Whose latest thread a request is about: that of this client, that of any client, or one that does not exist. */
export type Whose = "own" | "any" | "unknown"

/** The requests about one thread, its latest turn or its queue that have no further part. */
export type OfThread =
  | "resume"
  | "read"
  | "fork"
  | "forkInMemory"
  | "forkByPath"
  | "compact"
  | "archive"
  | "unarchive"
  | "unsubscribe"
  | "interrupt"
  | "revert"
  | "queueList"
  | "queueDelete"
  | "queueReorder"
  | "queueStart"

/** The requests about one thread that contain a text. */
export type WithText = "turn" | "steer" | "name" | "queueAdd" | "queueUpdate"

/** One step of a client. Ids are unique per connection. */
export type ThreadStep =
  | { readonly do: "start"; readonly id: number; readonly ephemeral: boolean }
  /** A thread that begins with a history of the client. */
  | { readonly do: "import"; readonly id: number; readonly text: string }
  | { readonly do: WithText; readonly id: number; readonly text: string; readonly of: Whose }
  | { readonly do: OfThread; readonly id: number; readonly of: Whose }
  /** Reads what is left of one thread after a restart. */
  | {
      readonly do: "recall"
      readonly id: number
      readonly what: "resume" | "read" | "queueList"
      readonly threadId: string
    }
  | { readonly do: "list"; readonly id: number }
  | { readonly do: "garbage"; readonly id: number; readonly what: ThreadGarbage }
  | { readonly do: "pause"; readonly ms: number }
  | { readonly do: "yield"; readonly times: number }

/** How a client answers approvals. `error`: with an error. `never`: not at all. */
export type Answers = "accept" | "acceptForSession" | "decline" | "cancel" | "error" | "never"

/** What one client does. */
export interface ThreadClientPlan {
  /** Frames that the connection holds per direction. */
  readonly capacity: number
  readonly reading: WireReading
  readonly answers: Answers
  readonly steps: ReadonlyArray<ThreadStep>
  /** `closes`: ends the input and reads the remaining output. `drops`: closes both directions at once. */
  readonly ends: "closes" | "drops"
}

/** What one run does. */
export interface ThreadPlan {
  readonly seed: number
  readonly model: ReadonlyArray<ModelPlan>
  readonly connections: ReadonlyArray<ThreadClientPlan>
  /** Numbers of the store's appends that fail, counted from 0. */
  readonly appendFaults: ReadonlyArray<number>
  /** The append before which another process takes its conversation over. Absent: no process does. */
  readonly stolen?: number
  /** Numbers of the store's other calls that fail, counted from 0. */
  readonly storeFaults: ReadonlyArray<number>
  /** Number of processes over the one store; clients are divided among them. */
  readonly processes: 1 | 2
  /** True for a run that crashes and is continued by a second process. */
  readonly restart: boolean
}

/** The kinds of faults that a plan holds, one entry for each occurrence. */
export const threadFaultsOf = ({
  appendFaults,
  connections,
  model,
  processes,
  restart,
  stolen,
  storeFaults,
}: ThreadPlan): ReadonlyArray<string> => [
  ...model.flatMap(({ end, calls }) => [
    ...(end === "completed" ? [] : [`model ${end}`]),
    ...calls.flatMap((call) => (["ok", "emits", "asks"].includes(call) ? [] : [`tool ${call}`])),
  ]),
  ...appendFaults.map(() => "thread store append fails"),
  ...storeFaults.map(() => "thread store fails"),
  ...(stolen === undefined ? [] : ["thread store append stolen"]),
  ...(processes === 1 ? [] : ["thread second process"]),
  ...(restart ? ["thread crash"] : []),
  ...connections.flatMap(({ answers, ends, reading, steps }) => [
    ends === "closes" ? "thread end of input" : "thread dropped",
    ...(reading.how === "fast" ? [] : [`thread reader ${reading.how}`]),
    ...(answers === "error" || answers === "never" ? [`thread answer ${answers}`] : []),
    ...steps.flatMap((step) => (step.do === "garbage" ? [`thread ${step.what}`] : [])),
  ]),
]

/** Every plan that is this one with one part removed, the largest cuts first. */
export const smallerThreads = function* (plan: ThreadPlan): Generator<ThreadPlan> {
  if (plan.restart) yield { ...plan, restart: false }
  if (plan.processes === 2) yield { ...plan, processes: 1 }
  if (plan.stolen !== undefined) {
    const { stolen: _, ...rest } = plan
    yield rest
  }
  for (let i = 0; i < plan.storeFaults.length; i++) {
    yield { ...plan, storeFaults: plan.storeFaults.toSpliced(i, 1) }
  }
  yield* smallerWire(plan)
}
