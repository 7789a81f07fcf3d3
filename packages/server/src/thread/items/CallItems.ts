/** Calls and the questions about them as items: a question and its call are one. Pure. */
import type { CallItem, QuestionItem } from "@colloquy/core/log/Item"
import type { ItemChange } from "@colloquy/core/log/Items"
import * as CoreItems from "./CoreItems.ts"
import {
  completed,
  type ItemOutput,
  none,
  type OpenCall,
  type Projected,
  type ProjectionState,
  started,
  timesOf,
} from "./ProjectionState.ts"
import { decodeChunk, decodeRest, noBytes } from "./Utf8Chunks.ts"

const withoutCall = (state: ProjectionState, call: OpenCall): ProjectionState => ({
  ...state,
  calls: state.calls.filter((one) => one !== call),
})

const withCall = (
  state: ProjectionState,
  call: OpenCall,
  before: OpenCall | undefined,
): ProjectionState => ({
  ...state,
  calls: before ? state.calls.map((one) => (one === before ? call : one)) : [...state.calls, call],
})

/**
 * Another call of the turn goes on: one that was approved does not start any more. It was asked whether it may run again, and
 * runs under another id.
 */
export const settleApproved = (
  state: ProjectionState,
  { callId, turnId }: Pick<CallItem, "callId" | "turnId">,
  completedAtMs: number,
): Projected => {
  const settled = state.calls.filter(
    (call) => call.isApproved && call.turnId === turnId && call.callId !== callId,
  )
  if (settled.length === 0) return none(state)
  return {
    state: { ...state, calls: state.calls.filter((call) => !settled.includes(call)) },
    outputs: settled.map((call) => {
      const { item } = call
      const status = "status" in item ? { status: "completed" as const } : {}
      return completed(call, { ...item, ...status, completedAtMs })
    }),
  }
}

/** A question about a call: the item of the call starts with it. */
export const ask = (state: ProjectionState, core: QuestionItem, atMs: number): Projected => {
  // A call that runs already and asks something more is shown already.
  if (state.calls.some(({ callId }) => callId === core.callId)) return none(state)
  const open = { id: core.id, turnId: core.turnId, startedAtMs: atMs }
  const item = CoreItems.questionedCall(timesOf(open, null), core, "running")
  if (item === undefined) return none(state)
  const call: OpenCall = {
    ...open,
    callId: core.callId,
    coreId: core.id,
    item,
    rest: noBytes,
    hasOutput: false,
    isApproved: false,
  }
  return { state: withCall(state, call, undefined), outputs: [started(call, item)] }
}

/** The question was answered: a declined call ends, an approved one may start. */
export const resolve = (state: ProjectionState, core: QuestionItem, atMs: number): Projected => {
  const call = state.calls.find(({ coreId }) => coreId === core.id)
  if (call === undefined) return none(state)
  if (core.status === "completed") return none(withCall(state, { ...call, isApproved: true }, call))
  const item = CoreItems.questionedCall(timesOf(call, atMs), core, "declined")
  return {
    state: withoutCall(state, call),
    outputs: item === undefined ? [] : [completed(call, item)],
  }
}

/** A call, which is no question. */
export type RealCall = Exclude<CallItem, QuestionItem>

/** A call starts, after its question if there was one. */
export const startCall = (state: ProjectionState, core: RealCall, atMs: number): Projected => {
  const asked = state.calls.find(
    ({ callId, coreId, id }) => callId === core.callId && coreId === id && id !== core.id,
  )
  const open = asked ?? { id: core.id, turnId: core.turnId, startedAtMs: atMs }
  const item = CoreItems.callItem(timesOf(open, null), core)
  const call: OpenCall = {
    id: open.id,
    turnId: open.turnId,
    startedAtMs: open.startedAtMs,
    callId: core.callId,
    coreId: core.id,
    item,
    rest: noBytes,
    hasOutput: false,
    isApproved: false,
  }
  return {
    state: withCall(state, call, asked),
    outputs: asked === undefined ? [started(call, item)] : [],
  }
}

/** What of the output of a command was not sent yet: bytes that no character completed, or a reason not to start. */
const lastOutput = (call: OpenCall, item: CoreItems.CallThreadItem): ReadonlyArray<ItemOutput> => {
  const { hasOutput, id: itemId, rest, turnId } = call
  if (item.type !== "commandExecution" || item.aggregatedOutput === null) return []
  const delta = hasOutput ? decodeRest(rest) : item.aggregatedOutput
  return delta === "" ? [] : [{ _tag: "OutputDelta", turnId, itemId, delta }]
}

/** A call ends. */
export const endCall = (state: ProjectionState, core: RealCall, atMs: number): Projected => {
  const call = state.calls.find(({ coreId }) => coreId === core.id)
  if (call === undefined) return none(state)
  const item = CoreItems.callItem(timesOf(call, atMs), core)
  return {
    state: withoutCall(state, call),
    outputs: [...lastOutput(call, item), completed(call, item)],
  }
}

/** What a tool server says of its call: its words, or the numbers where it gives none. */
export const callProgress = (
  state: ProjectionState,
  { id: itemId, turnId }: OpenCall,
  { message, progress, total }: Extract<ItemChange, { readonly _tag: "Progress" }>["report"],
): Projected => {
  const numbers = total === undefined ? `${progress}` : `${progress}/${total}`
  const words = message === undefined || message === "" ? numbers : message
  return { state, outputs: [{ _tag: "CallProgress", turnId, itemId, message: words }] }
}

/** A chunk of the output of a command. */
export const outputDelta = (state: ProjectionState, call: OpenCall, chunk: string): Projected => {
  const { rest, text: delta } = decodeChunk(call.rest, chunk)
  const { id: itemId, turnId } = call
  return {
    state:
      rest === noBytes && call.rest === noBytes && call.hasOutput
        ? state
        : withCall(state, { ...call, rest, hasOutput: true }, call),
    outputs: delta === "" ? [] : [{ _tag: "OutputDelta", turnId, itemId, delta }],
  }
}
