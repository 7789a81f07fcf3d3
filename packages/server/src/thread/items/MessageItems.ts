/** Messages of the model as items. Pure. */
import type { TextItem } from "@colloquy/core/log/Item"
import * as CoreItems from "./CoreItems.ts"
import {
  completed,
  type ItemOutput,
  type OpenMessage,
  type Projected,
  type ProjectionState,
  started,
  textTimesOf,
  timesOf,
  without,
} from "./ProjectionState.ts"

/** A message begins. */
export const startMessage = (state: ProjectionState, core: TextItem, atMs: number): Projected => {
  const open: OpenMessage = {
    id: core.id,
    turnId: core.turnId,
    startedAtMs: atMs,
    sent: "",
    isRestarted: false,
  }
  return {
    state: { ...state, messages: new Map(state.messages).set(core.id, open) },
    outputs: [started(open, CoreItems.agentMessage(timesOf(open, null), ""))],
  }
}

/** More text of a message. */
export const messageDelta = (
  state: ProjectionState,
  open: OpenMessage,
  delta: string,
  atMs: number,
): Projected => {
  const { id: itemId, isRestarted, sent, turnId } = open
  const put = (next: OpenMessage, outputs: ReadonlyArray<ItemOutput>): Projected => ({
    state: { ...state, messages: new Map(state.messages).set(itemId, next) },
    outputs,
  })
  const piece = (text: string): ReadonlyArray<ItemOutput> =>
    text === "" ? [] : [{ _tag: "MessageDelta", turnId, itemId, delta: text }]
  if (!isRestarted) return put({ ...open, sent: sent + delta }, piece(delta))
  if (delta.startsWith(sent)) {
    return put({ ...open, sent: delta, isRestarted: false }, piece(delta.slice(sent.length)))
  }
  const again = { ...open, startedAtMs: atMs, sent: delta, isRestarted: false }
  return put(again, [
    completed(open, CoreItems.agentMessage(textTimesOf(open, atMs), sent)),
    started(again, CoreItems.agentMessage(timesOf(again, null), "")),
    ...piece(delta),
  ])
}

/** A message was recorded, or will never be. What of its text was not sent yet is sent before. */
export const endMessage = (
  state: ProjectionState,
  open: OpenMessage,
  text: string,
  atMs: number,
): Projected => {
  const rest =
    text === open.sent
      ? { state, outputs: [] }
      : messageDelta(state, { ...open, isRestarted: true }, text, atMs)
  const last = rest.state.messages.get(open.id) ?? open
  return {
    state: { ...rest.state, messages: without(rest.state.messages, open.id) },
    outputs: [
      ...rest.outputs,
      completed(last, CoreItems.agentMessage(textTimesOf(last, atMs), text)),
    ],
  }
}
