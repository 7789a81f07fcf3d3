/**
 * The items of this dialect from those of the core: pure, and the only place that decides which items of the core are one
 * item here. `project` takes the state after earlier changes and one change; `turnEnded` ends what is open. Live events and
 * a replayed log give the same ids and contents, and every started item completes, however its turn ends.
 *
 * - A question about a call and the call are one item, which has the id of the question.
 * - Sections of reasoning that follow on each other are one item (`ReasoningItems.ts`).
 * - The beginning of a text is not recorded: a message and reasoning start when the request to the model could be sent that
 *   they are an answer to. That is at the start of the turn, at the end of the response before, and after a summary.
 * - The deltas of a message, and of each section of reasoning, since its item has started join to the text with which it
 *   completes. A text that is sent again from its beginning, because the request to the model is repeated, completes as it
 *   is; the item then starts again. Where it only continues what was sent, as it does for a listener that fell behind, the
 *   rest is sent. A text that is recorded with another content than its deltas is treated in the same way.
 */
import type { Item, TextItem } from "@colloquy/core/log/Item"
import { isText, type ItemChange } from "@colloquy/core/log/Items"
import type { ThreadItem } from "@colloquy/protocol/thread/Items"
import {
  ask,
  callProgress,
  endCall,
  outputDelta,
  type RealCall,
  resolve,
  settleApproved,
  startCall,
} from "./CallItems.ts"
import * as CoreItems from "./CoreItems.ts"
import { endMessage, messageDelta, messageWith, startMessage } from "./MessageItems.ts"
import {
  completed,
  none,
  type Open,
  type OpenCall,
  type OpenMessage,
  type Projected,
  type ProjectionState,
  timesOf,
} from "./ProjectionState.ts"
import {
  endReasoning,
  endSection,
  reasoningEnded,
  reasoningWith,
  sectionDelta,
  startSection,
  suspendReasoning,
} from "./ReasoningItems.ts"

// -- items that one event makes

const singleOf = (core: Item, startedAtMs: number): ThreadItem | undefined => {
  const identity = { id: core.id, startedAtMs, completedAtMs: startedAtMs }
  switch (core.type) {
    case "user_message":
      return core.kind === "plain" ? CoreItems.userMessage(identity, core) : undefined
    case "image_view":
      return CoreItems.imageView(identity, core)
    case "compaction":
      return { type: "contextCompaction", ...identity }
    case "review_start":
      return { type: "enteredReviewMode", review: core.text, ...identity }
    case "review_end":
      return { type: "exitedReviewMode", review: core.text, ...identity }
    default:
      return undefined
  }
}

const single = (state: ProjectionState, core: Item, atMs: number): Projected => {
  const item = singleOf(core, atMs)
  if (item === undefined) return none(state)
  const { turnId } = core
  return {
    state,
    outputs: [
      { _tag: "ItemStarted", turnId, item: { ...item, completedAtMs: null } },
      { _tag: "ItemCompleted", turnId, item },
    ],
  }
}

// -- the fold

const isCall = (core: Item): core is RealCall =>
  "callId" in core && core.type !== "question" && core.type !== "image_view"

const followedBy = (first: Projected, then: (state: ProjectionState) => Projected): Projected => {
  const next = then(first.state)
  return { state: next.state, outputs: [...first.outputs, ...next.outputs] }
}

/** A message that a repeated request sends again is open already, and follows the reasoning of that request. */
const moreOfMessage = (
  state: ProjectionState,
  message: OpenMessage,
  delta: string,
  atMs: number,
): Projected =>
  message.isRestarted
    ? followedBy(suspendReasoning(state, message.turnId, atMs), (after) =>
        messageDelta(after, message, delta, atMs),
      )
    : messageDelta(state, message, delta, atMs)

const begin = (state: ProjectionState, core: Item, atMs: number): Projected => {
  if (isText(core)) {
    if (core.type !== "agent_message") return startSection(state, core, atMs)
    return followedBy(suspendReasoning(state, core.turnId, atMs), (after) =>
      startMessage(after, core, atMs),
    )
  }
  return followedBy(endReasoning(state, core, atMs), (after) => {
    if (!("callId" in core)) return none(after)
    return followedBy(settleApproved(after, core, atMs), (settled) => {
      if (core.type === "question") return ask(settled, core, atMs)
      return isCall(core) ? startCall(settled, core, atMs) : none(settled)
    })
  })
}

const endText = (
  state: ProjectionState,
  core: TextItem,
  isRecorded: boolean,
  atMs: number,
): Projected => {
  const reasoning = reasoningWith(state, core.id)
  if (reasoning !== undefined) return endSection(state, reasoning, core, isRecorded, atMs)
  const message = messageWith(state, core.id)
  if (message === undefined) return none(state)
  // The fold of the core has the text of a listener that fell behind twice, until it is recorded.
  if (!isRecorded) return endMessage(state, message, message.sent, atMs)
  return followedBy(endReasoning(state, core, atMs), (after) =>
    endMessage(after, message, core.text, atMs),
  )
}

const end = (state: ProjectionState, core: Item, isRecorded: boolean, atMs: number): Projected => {
  if (isText(core)) return endText(state, core, isRecorded, atMs)
  if (core.type === "question") return resolve(state, core, atMs)
  return isCall(core) ? endCall(state, core, atMs) : single(state, core, atMs)
}

const more = (state: ProjectionState, id: string, delta: string, atMs: number): Projected => {
  const message = messageWith(state, id)
  if (message !== undefined) return moreOfMessage(state, message, delta, atMs)
  const reasoning = reasoningWith(state, id)
  if (reasoning !== undefined) return sectionDelta(state, reasoning, id, delta, atMs)
  const call = state.calls.find(({ coreId }) => coreId === id)
  return call === undefined ? none(state) : outputDelta(state, call, delta)
}

const progressed = (
  state: ProjectionState,
  { id, report }: Extract<ItemChange, { readonly _tag: "Progress" }>,
): Projected => {
  const call = state.calls.find(({ coreId }) => coreId === id)
  return call === undefined ? none(state) : callProgress(state, call, report)
}

const restarted = (state: ProjectionState, applies: (id: string) => boolean): ProjectionState => ({
  ...state,
  messages: state.messages.map((open) =>
    applies(open.id) ? { ...open, isRestarted: true } : open,
  ),
  reasoning: state.reasoning.map((open) => ({
    ...open,
    received: open.received.map((one) =>
      applies(one.coreId) ? { ...one, isRestarted: true } : one,
    ),
  })),
})

/** Folds one change that happened at that time. A change that concerns no item of this dialect has no output. */
export const project = (state: ProjectionState, change: ItemChange, atMs: number): Projected => {
  switch (change._tag) {
    case "Started":
      return begin(state, change.item, atMs)
    case "Delta":
      return more(state, change.id, change.delta, atMs)
    case "Progress":
      return progressed(state, change)
    case "Reset":
      return none(restarted(state, (id) => id === change.id))
    case "Completed":
      return end(state, change.item, true, atMs)
    case "Discarded":
      return end(state, change.item, false, atMs)
  }
}

/**
 * The turn can send a request to the model from now on. A text that the response before has left without an end is replaced
 * by one of the next response, or recorded after it, and is read back with the start of that one.
 */
export const requested = (state: ProjectionState, atMs: number): ProjectionState => ({
  ...state,
  messages: state.messages.map((open) => ({ ...open, startedAtMs: atMs })),
  reasoning: state.reasoning.map((open) =>
    open.recorded.length === 0 ? { ...open, startedAtMs: atMs } : open,
  ),
  requestedAtMs: atMs,
})

/** The next piece of every open text contains all of it: the listener fell behind. */
export const resynced = (state: ProjectionState): ProjectionState => restarted(state, () => true)

const unfinished = (call: OpenCall, completedAtMs: number): ThreadItem => ({
  ...call.item,
  ...("status" in call.item ? { status: "failed" as const } : {}),
  completedAtMs,
})

/** Completes what the turn has left open. */
export const turnEnded = (state: ProjectionState, turnId: string, atMs: number): Projected => {
  const isOf = (open: Open) => open.turnId === turnId
  return {
    state: {
      ...state,
      messages: state.messages.filter((open) => !isOf(open)),
      calls: state.calls.filter((open) => !isOf(open)),
      reasoning: state.reasoning.filter((open) => !isOf(open)),
    },
    outputs: [
      ...reasoningEnded(state, turnId, atMs),
      ...state.messages
        .filter(isOf)
        .map((open) => completed(open, CoreItems.agentMessage(timesOf(open, atMs), open.sent))),
      ...state.calls.filter(isOf).map((open) => completed(open, unfinished(open, atMs))),
    ],
  }
}

/** Where the item of a call is, while it is open. */
export const openCall = (
  { calls }: ProjectionState,
  callId: string,
): Pick<Open, "id" | "startedAtMs"> | undefined => calls.find((call) => call.callId === callId)
