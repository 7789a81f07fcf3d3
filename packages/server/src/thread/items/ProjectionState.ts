/** What is open among the items of a thread, and what happens to them. Types, and the functions that all kinds share. */
import type { Reasoning, ThreadItem } from "@colloquy/protocol/thread/Items"
import type { CallThreadItem } from "./CoreItems.ts"

/** What happened to the items of a thread. */
export type ItemOutput =
  | { readonly _tag: "ItemStarted"; readonly turnId: string; readonly item: ThreadItem }
  | { readonly _tag: "ItemCompleted"; readonly turnId: string; readonly item: ThreadItem }
  /** More text of a message, or more output of a command. */
  | {
      readonly _tag: "MessageDelta" | "OutputDelta"
      readonly turnId: string
      readonly itemId: string
      readonly delta: string
    }
  /** A tool server says how far its call is. */
  | {
      readonly _tag: "CallProgress"
      readonly turnId: string
      readonly itemId: string
      readonly message: string
    }
  /** A section of the summary of reasoning begins. */
  | {
      readonly _tag: "PartAdded"
      readonly turnId: string
      readonly itemId: string
      readonly index: number
    }
  /** More text of a section of the summary, or of raw reasoning. */
  | {
      readonly _tag: "SummaryDelta" | "ReasoningDelta"
      readonly turnId: string
      readonly itemId: string
      readonly index: number
      readonly delta: string
    }

/** What every open item has. */
export interface Open {
  readonly id: string
  readonly turnId: string
  /** Of a text, when the request to the model was sent that it is an answer to (`ItemProjection.ts`). */
  readonly startedAtMs: number
}

/** A message that is being received. */
export interface OpenMessage extends Open {
  /** The text that was sent. */
  readonly sent: string
  /** The next piece begins the text anew. */
  readonly isRestarted: boolean
}

/** A call without an end. */
export interface OpenCall extends Open {
  readonly callId: string
  /** Id of the core's item that ends it; that of the question while the call has not started. */
  readonly coreId: string
  /** The item as it was sent last. */
  readonly item: CallThreadItem
  /** Bytes that begin a character. */
  readonly rest: Uint8Array
  /** True: output was received. */
  readonly hasOutput: boolean
  /** True: its question was approved, and it has not started. */
  readonly isApproved: boolean
}

/** Reasoning of a turn, of which sections are being received or may follow (`ReasoningItems.ts`). */
export interface OpenReasoning extends Open {
  /** True between the start of the item and its end. It may start again. */
  readonly isShown: boolean
  /** True: it completes with its last section that is being received. */
  readonly isClosing: boolean
  /** The sections of the item that are recorded, in their order. */
  readonly recorded: ReadonlyArray<RecordedSection>
  /** The sections that are being received; those of one part are recorded in their order. */
  readonly received: ReadonlyArray<Section>
  /** What was sent of the item since it has started; nothing while it is not shown. */
  readonly sent: SectionTexts
  /** Number of the turn's items of reasoning that can get no further section. */
  readonly ended: number
}

/** The texts of sections of reasoning, by their part. */
export type SectionTexts = Pick<Reasoning, Section["part"]>

/** A section of reasoning that is recorded. */
interface RecordedSection extends Pick<Section, "part" | "text"> {
  /** When it was recorded. */
  readonly atMs: number
}

/** A section of reasoning. */
export interface Section {
  /** Id of the core's item. */
  readonly coreId: string
  readonly part: "summary" | "content"
  readonly text: string
  /** The next piece begins the text anew. */
  readonly isRestarted: boolean
}

/** What is open after some changes. A value. */
export interface ProjectionState {
  readonly messages: ReadonlyArray<OpenMessage>
  readonly calls: ReadonlyArray<OpenCall>
  /** At most one per turn. */
  readonly reasoning: ReadonlyArray<OpenReasoning>
  /** When the latest request to the model could be sent; undefined before the first turn. */
  readonly requestedAtMs: number | undefined
}

/** The state before the first change. */
export const initialProjection: ProjectionState = {
  messages: [],
  calls: [],
  reasoning: [],
  requestedAtMs: undefined,
}

/** The next state, and what happened, in order. */
export interface Projected {
  readonly state: ProjectionState
  readonly outputs: ReadonlyArray<ItemOutput>
}

/** Nothing happened. */
export const none = (state: ProjectionState): Projected => ({ state, outputs: [] })

/** The id and the times of an open item. */
export const timesOf = ({ id, startedAtMs }: Open, completedAtMs: number | null) => ({
  id,
  startedAtMs,
  completedAtMs,
})

/** The item starts. */
export const started = ({ turnId }: Open, item: ThreadItem): ItemOutput => ({
  _tag: "ItemStarted",
  turnId,
  item,
})

/** The item ends. */
export const completed = ({ turnId }: Open, item: ThreadItem): ItemOutput => ({
  _tag: "ItemCompleted",
  turnId,
  item,
})
