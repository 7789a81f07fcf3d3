/** What one simulated run does: clients and their operations, what the model says, which faults. Plain data, so that a plan prints and shrinks. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { WhileRunning } from "@colloquy/core/decider/Decision"

/** How a tool call goes. `asks` asks for an approval. `stubborn` takes longer to stop than any bound, and then still tells something. */
export type ToolPlan = "ok" | "asks" | "slow" | "tells" | "hang" | "defect" | "stubborn"

/** How long every question stays open. */
export const deadlineMs = 5_000

/** The kill grace of every conversation. */
export const killGraceMs = 2_000

/** How a response of the model ends. `overflow`: the request was too long for it. */
export type ModelEnd = "completed" | "error" | "retryable" | "overflow" | "hang" | "defect"

export interface ModelPlan {
  /** Pieces the text comes in; 0: no text at all. */
  readonly pieces: number
  /** Pieces a summary of reasoning comes in, before the text. */
  readonly reasoning: number
  /** Virtual milliseconds before each piece. */
  readonly pieceMs: number
  readonly calls: ReadonlyArray<ToolPlan>
  readonly end: ModelEnd
}

/** How a listener reads. `dead` takes nothing until the very end. */
export type Reading =
  | { readonly how: "fast" }
  | { readonly how: "slow"; readonly ms: number }
  | { readonly how: "dead" }
  | { readonly how: "leaves"; readonly takes: number }

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

/** What a listener says to questions: `silent` declares that it answers and never does. */
export type Answering = "approved" | "approved_for_session" | "denied" | "abort" | "silent"

export type ForkRule = Extract<
  Parameters<ConversationManager["Service"]["fork"]>[1],
  { readonly _tag: "DropLastUserMessages" | "BeforeUserMessage" }
>

/** A question about conversations that nobody can answer: a cursor of nobody, one of another place, no limit at all. */
export type BadPage = "garbage" | "moved" | "limit"

/** Conversations are named by slots: the conversation that was last created for the slot. */
export type Action =
  | { readonly do: "create"; readonly slot: number }
  /** Of the slot's conversation; `into` is the slot of the new one. */
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
      /** Part of the input; no two submissions share it. */
      readonly text: string
    }
  /** Without an id: the submission that this client's last receipt named. */
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
  /** Page after page, with so many yields in between. */
  | { readonly do: "pages"; readonly limit: number; readonly yields: number }
  | { readonly do: "badPage"; readonly slot: number; readonly what: BadPage }
  | { readonly do: "pause"; readonly ms: number }
  | { readonly do: "yield"; readonly times: number }
  | { readonly do: "close" }

/** `giveUpAfter`: the caller is interrupted after so many yields. */
export type Operation = Action & { readonly giveUpAfter?: number }

/** Time for what still runs when the clients are done; longer than every bound and every plan's turn. */
export const restMs = 60_000

/**
 * How the n-th call of the store goes wrong: it fails, it takes its time, or longer than anybody waits; of an append also:
 * another process has taken the conversation over.
 */
export interface StoreFault {
  readonly call: number
  readonly how: "fails" | "slow" | "late" | "stolen"
}

/** Where conversations go that nobody uses. */
export interface StorePlan {
  /** Idle for so long they are stored. */
  readonly idleMs: number
  readonly maxLoaded: number
  /** Slots whose conversations nobody listens to of himself: their log is read at the end. */
  readonly unheard: ReadonlyArray<number>
  readonly faults: ReadonlyArray<StoreFault>
  /** Counted by themselves. */
  readonly appendFaults: ReadonlyArray<StoreFault>
  /** At the end everything crashes and begins again. */
  readonly restart: boolean
}

export interface Plan {
  readonly store: StorePlan
  readonly seed: number
  readonly maxConversations: number
  /** The n-th request of a conversation is answered by one of these; see `modelPlanOf`. */
  readonly model: ReadonlyArray<ModelPlan>
  readonly clients: ReadonlyArray<ReadonlyArray<Operation>>
}

const plain: ModelPlan = { pieces: 2, reasoning: 0, pieceMs: 0, calls: [], end: "completed" }

/** Requests of one conversation that follow the plan; later ones get a plain answer, so that every turn can end. */
const maxPlanned = 16

export const modelPlanOf = (plan: Pick<Plan, "model">, slot: number, request: number): ModelPlan =>
  request >= maxPlanned
    ? plain
    : (plan.model[(slot * 5 + request) % Math.max(1, plan.model.length)] ?? plain)

/** True for a rule that can be counted. */
export const isCount = (rule: ForkRule): boolean => {
  const count = rule._tag === "BeforeUserMessage" ? rule.nth : rule.n
  return Number.isInteger(count) && count >= 0
}

/** The kinds of faults a plan holds, one entry each time. */
export const faultsOf = (plan: Plan): ReadonlyArray<string> => [
  ...(plan.store.restart ? ["crash"] : []),
  ...plan.model.flatMap(({ end, calls }) => [
    ...(end === "completed" ? [] : [`model ${end}`]),
    ...calls.flatMap((call) => (["ok", "tells", "asks"].includes(call) ? [] : [`tool ${call}`])),
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
