/** What one simulated run does: its clients and their operations, the model's responses, the faults. Plain data, so that a plan can be printed and shrunk. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { WhileRunning } from "@colloquy/core/decider/Decision"

/** What a tool call does. `asks` requests an approval. `emits` emits two events. `stubborn` takes longer to stop than any bound, and emits an event after that. */
export type ToolPlan = "ok" | "asks" | "slow" | "emits" | "hang" | "defect" | "stubborn"

/** Deadline of every question in milliseconds. */
export const deadlineMs = 5_000

/** The kill grace of every conversation in milliseconds. */
export const killGraceMs = 2_000

/** How a response of the model ends. `overflow`: the request exceeds the context window. */
export type ModelEnd = "completed" | "error" | "retryable" | "overflow" | "hang" | "defect"

/** One response of the model. */
export interface ModelPlan {
  /** Number of deltas of the text; 0: no text at all. */
  readonly pieces: number
  /** Number of deltas of a summary of the reasoning, sent before the text. */
  readonly reasoning: number
  /** Virtual milliseconds before each delta. */
  readonly pieceMs: number
  /** Tool calls after the text. */
  readonly calls: ReadonlyArray<ToolPlan>
  readonly end: ModelEnd
}

/** How a listener reads. `dead` takes nothing until the end of the run, `leaves` detaches after `takes` reads. */
export type Reading =
  | { readonly how: "fast" }
  | { readonly how: "slow"; readonly ms: number }
  | { readonly how: "dead" }
  | { readonly how: "leaves"; readonly takes: number }

/** The op of a submission. `empty` has no items, `big` more than allowed; `unsupported` is an op that conversations refuse. */
export type Submission =
  | "input"
  | "turn"
  | "empty"
  | "big"
  | "context"
  | "compact"
  | "unsupported"
  | "interrupt"
  | "shutdown"

/** A listener's decision on every question. `silent` declares that it answers and never does. */
export type Answering = "approved" | "approved_for_session" | "denied" | "abort" | "silent"

/** The rules of a fork that plans use. */
export type ForkRule = Extract<
  Parameters<ConversationManager["Service"]["fork"]>[1],
  { readonly _tag: "DropLastUserMessages" | "BeforeUserMessage" }
>

/** An invalid page request: a cursor that was never issued, a cursor of another position, a limit of 0. */
export type BadPage = "garbage" | "moved" | "limit"

/** One thing that a client does. A slot names the conversation that was last created for it. */
export type Action =
  | { readonly do: "create"; readonly slot: number }
  /** Forks the slot's conversation; `into` is the slot of the new one. */
  | {
      readonly do: "fork"
      readonly slot: number
      readonly into: number
      readonly rule: ForkRule
    }
  | {
      readonly do: "submit"
      readonly slot: number
      readonly what: Submission
      readonly whileRunning: WhileRunning
      readonly id?: string
      /** Part of the input; no two submissions have the same. */
      readonly text: string
    }
  /** Without an id: cancels the submission that this client's last receipt named. */
  | { readonly do: "cancel"; readonly slot: number; readonly id?: string }
  | {
      readonly do: "attach"
      readonly slot: number
      readonly listener: string
      readonly from?: number
      readonly maxEvents: number
      readonly reading: Reading
      readonly answering?: Answering
    }
  | { readonly do: "detach"; readonly listener: string }
  | { readonly do: "remove"; readonly slot: number }
  | { readonly do: "get"; readonly slot: number }
  | { readonly do: "list" }
  /** Requests all pages, with that many yields in between. */
  | { readonly do: "pages"; readonly limit: number; readonly yields: number }
  | { readonly do: "badPage"; readonly slot: number; readonly what: BadPage }
  | { readonly do: "pause"; readonly ms: number }
  | { readonly do: "yield"; readonly times: number }
  | { readonly do: "close" }

/** An action and, with `giveUpAfter`, the number of yields after which its caller is interrupted. */
export type Operation = Action & { readonly giveUpAfter?: number }

/** Time in milliseconds that running work gets after the clients have finished; longer than every bound and every plan's turn. */
export const restMs = 60_000

/**
 * A fault of the n-th call of the store: it fails, it is slow, or it takes longer than any caller waits (`late`). `stolen`
 * concerns appends: another process has taken the conversation over.
 */
export interface StoreFault {
  readonly call: number
  readonly how: "fails" | "slow" | "late" | "stolen"
}

/** When conversations leave memory, and the faults of the store. */
export interface StorePlan {
  /** Milliseconds without use after which a conversation leaves memory. */
  readonly idleMs: number
  /** Most conversations in memory. */
  readonly maxLoaded: number
  /** Slots whose conversations have no audit, so that they can leave memory: their log is read at the end. */
  readonly unaudited: ReadonlyArray<number>
  readonly faults: ReadonlyArray<StoreFault>
  /** Faults of appends, which are counted separately. */
  readonly appendFaults: ReadonlyArray<StoreFault>
  /** True for a run that crashes and is continued by a second process. */
  readonly restart: boolean
}

/** Everything that a run of the core depends on. */
export interface Plan {
  readonly store: StorePlan
  readonly seed: number
  readonly maxConversations: number
  /** The responses of the model; `modelPlanOf` selects one for each request. */
  readonly model: ReadonlyArray<ModelPlan>
  readonly clients: ReadonlyArray<ReadonlyArray<Operation>>
}

const plain: ModelPlan = { pieces: 2, reasoning: 0, pieceMs: 0, calls: [], end: "completed" }

/** Requests of one conversation that follow the plan; later ones get a plain response, so that every turn can end. */
const maxPlanned = 16

/** The response to the n-th request of the slot's conversation. */
export const modelPlanOf = (plan: Pick<Plan, "model">, slot: number, request: number): ModelPlan =>
  request >= maxPlanned
    ? plain
    : (plan.model[(slot * 5 + request) % Math.max(1, plan.model.length)] ?? plain)

/** True for a rule with a valid count: an integer that is not negative. */
export const isCount = (rule: ForkRule): boolean => {
  const count = rule._tag === "BeforeUserMessage" ? rule.nth : rule.n
  return Number.isInteger(count) && count >= 0
}

/** The kinds of faults that a plan holds, one entry for each occurrence. */
export const faultsOf = (plan: Plan): ReadonlyArray<string> => [
  ...(plan.store.restart ? ["crash"] : []),
  ...plan.model.flatMap(({ end, calls }) => [
    ...(end === "completed" ? [] : [`model ${end}`]),
    ...calls.flatMap((call) => (["ok", "emits", "asks"].includes(call) ? [] : [`tool ${call}`])),
  ]),
  ...plan.clients
    .flat()
    .flatMap((operation) => [
      ...(operation.giveUpAfter === undefined ? [] : ["caller gone"]),
      ...(operation.do === "attach" && operation.reading.how !== "fast"
        ? [`listener ${operation.reading.how}`]
        : []),
      ...(operation.do === "submit" &&
      (operation.what === "unsupported" || operation.what === "big")
        ? [`op ${operation.what}`]
        : []),
      ...(operation.do === "attach" && operation.answering === "silent" ? ["answer never"] : []),
      ...(operation.do === "badPage" ? [`page ${operation.what}`] : []),
      ...(operation.do === "fork" && !isCount(operation.rule) ? ["fork of no number"] : []),
      ...(operation.do === "close" ? ["manager closed"] : []),
      ...(operation.do === "remove" ? ["conversation removed"] : []),
    ]),
]
