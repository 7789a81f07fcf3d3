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
  timesOf,
} from "./ProjectionState.ts"

/** A message begins. */
export const startMessage = (state: ProjectionState, core: TextItem, atMs: number): Projected => {
  const open: OpenMessage = {
    id: core.id,
    turnId: core.turnId,
    startedAtMs: state.requestedAtMs ?? atMs,
    sent: "",
    isRestarted: false,
  }
  return {
    state: { ...state, messages: [...state.messages.filter(({ id }) => id !== core.id), open] },
    outputs: [started(open, CoreItems.agentMessage(timesOf(open, null), ""))],
  }
}

const put = (
  state: ProjectionState,
  next: OpenMessage,
  outputs: ReadonlyArray<ItemOutput>,
): Projected => ({
  state: {
    messages: state.messages.map((open) => (open.id === next.id ? next : open)),
    calls: state.calls,
    reasoning: state.reasoning,
    requestedAtMs: state.requestedAtMs,
  },
  outputs,
})

const piece = ({ id: itemId, turnId }: OpenMessage, delta: string): ReadonlyArray<ItemOutput> =>
  delta === "" ? [] : [{ _tag: "MessageDelta", turnId, itemId, delta }]

/** The message with that id, while it is received. */
export const messageWith = ({ messages }: ProjectionState, id: string): OpenMessage | undefined =>
  messages.find((open) => open.id === id)

/** More text of a message. */
export const messageDelta = (
  state: ProjectionState,
  open: OpenMessage,
  delta: string,
  atMs: number,
): Projected => {
  const { isRestarted, sent } = open
  if (!isRestarted) return put(state, { ...open, sent: sent + delta }, piece(open, delta))
  if (delta.startsWith(sent)) {
    const next = { ...open, sent: delta, isRestarted: false }
    return put(state, next, piece(open, delta.slice(sent.length)))
  }
  const startedAtMs = state.requestedAtMs ?? atMs
  const again = { ...open, startedAtMs, sent: delta, isRestarted: false }
  return put(state, again, [
    completed(open, CoreItems.agentMessage(timesOf(open, atMs), sent)),
    started(again, CoreItems.agentMessage(timesOf(again, null), "")),
    ...piece(open, delta),
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
  const last = messageWith(rest.state, open.id) ?? open
  return {
    state: { ...rest.state, messages: rest.state.messages.filter(({ id }) => id !== open.id) },
    outputs: [...rest.outputs, completed(last, CoreItems.agentMessage(timesOf(last, atMs), text))],
  }
}
