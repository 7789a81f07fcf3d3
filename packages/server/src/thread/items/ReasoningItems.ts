/**
 * Sections of reasoning as items: those that are recorded one after the other are one item. Pure.
 *
 * Which sections an item has follows from what is recorded only, so a log that is read back gives the same items as live
 * events. What is live only can be shown before it is known where it will be recorded:
 * - A message begins: the reasoning before it completes, although further sections of it may be recorded before the
 *   message is. The item starts again with them then.
 * - Another item is recorded between two sections: a section that is still being received then begins the next item.
 *
 * The deltas of an item that has started join to the texts with which it completes, each section by its part and index. The
 * texts that were sent are kept for this (`sent`): where others are needed that continue them, the rest is sent; where they
 * do not, the item completes with what was sent, and starts again. That is so when a section is received again, is recorded
 * with another text, or turns out to be part of no item or of the next one.
 *
 * The id of an item has its number among the items of reasoning of the turn.
 */
import type { Item, TextItem } from "@colloquy/core/log/Item"
import type { Reasoning } from "@colloquy/protocol/thread/Items"
import {
  completed,
  type ItemOutput,
  none,
  type OpenReasoning,
  type Projected,
  type ProjectionState,
  type Section,
  started,
} from "./ProjectionState.ts"
import {
  continues,
  noTexts,
  restOf,
  type SectionText,
  textDelta,
  textsOf,
} from "./ReasoningTexts.ts"

/** Reasoning after a change, and what happened. */
type Changed = readonly [OpenReasoning, ReadonlyArray<ItemOutput>]

/** Reasoning that has begun. */
const begunItem = ({ id, startedAtMs }: OpenReasoning): Reasoning => ({
  type: "reasoning",
  id,
  summary: [],
  content: [],
  startedAtMs,
  completedAtMs: null,
})

/** An item that has no end yet, with the texts that were sent. */
export const reasoningSoFar = (open: OpenReasoning): Reasoning => ({
  ...begunItem(open),
  ...open.sent,
})

/** The item completes with the texts that were sent. */
const ends = (open: OpenReasoning, completedAtMs: number): ItemOutput =>
  completed(open, { ...reasoningSoFar(open), completedAtMs })

/** The beginning of an item that is shown, with the texts that were sent. */
export const reasoningBegins = (open: OpenReasoning): ReadonlyArray<ItemOutput> => [
  started(open, begunItem(open)),
  ...restOf(open, noTexts, open.sent),
]

const idOf = (turnId: string, ended: number): string => `${turnId}/reasoning/${ended}`

const initial = (turnId: string): OpenReasoning => ({
  id: idOf(turnId, 0),
  turnId,
  startedAtMs: 0,
  isShown: false,
  isClosing: false,
  recorded: [],
  received: [],
  sent: noTexts,
  ended: 0,
})

const of = ({ reasoning }: ProjectionState, turnId: string): OpenReasoning | undefined =>
  reasoning.find((open) => open.turnId === turnId)

/** The reasoning of the turn that receives the section, if any. */
export const reasoningWith = (
  { reasoning }: ProjectionState,
  coreId: string,
): OpenReasoning | undefined =>
  reasoning.find(({ received }) => received.some((section) => section.coreId === coreId))

const put = (state: ProjectionState, [next, outputs]: Changed): Projected => ({
  state: {
    ...state,
    reasoning: [...state.reasoning.filter(({ turnId }) => turnId !== next.turnId), next],
  },
  outputs,
})

const sectionsOf = ({ received, recorded }: OpenReasoning): ReadonlyArray<SectionText> => [
  ...recorded,
  ...received,
]

/** The client gets what it lacks of these sections of an item that is shown, which starts again where they do not continue it. */
const send = (open: OpenReasoning, sections: ReadonlyArray<SectionText>, atMs: number): Changed => {
  const texts = textsOf(sections)
  const next = { ...open, sent: texts }
  return continues(open.sent, texts)
    ? [next, restOf(open, open.sent, texts)]
    : [next, [ends(open, atMs), ...reasoningBegins(next)]]
}

/** The item starts with all its sections; what is recorded of it keeps its start. */
const shown = (open: OpenReasoning, { requestedAtMs }: ProjectionState, atMs: number): Changed => {
  const startedAtMs = open.recorded.length > 0 ? open.startedAtMs : (requestedAtMs ?? atMs)
  const sent = textsOf(sectionsOf(open))
  const next = { ...open, startedAtMs, isShown: true, isClosing: false, sent }
  return [next, reasoningBegins(next)]
}

/** A section begins. */
export const startSection = (state: ProjectionState, core: TextItem, atMs: number): Projected => {
  const before = of(state, core.turnId) ?? initial(core.turnId)
  const part = core.type === "reasoning" ? ("summary" as const) : ("content" as const)
  const section: Section = { coreId: core.id, part, text: "", isRestarted: false }
  const open = { ...before, received: [...before.received, section] }
  return put(state, open.isShown ? send(open, sectionsOf(open), atMs) : shown(open, state, atMs))
}

/** More text of a section. */
export const sectionDelta = (
  state: ProjectionState,
  open: OpenReasoning,
  coreId: string,
  more: string,
  atMs: number,
): Projected => {
  const place = open.received.findIndex((section) => section.coreId === coreId)
  const section = open.received[place]
  if (section === undefined) return none(state)
  const { isRestarted, part } = section
  const text = isRestarted ? more : section.text + more
  const received = open.received.with(place, { ...section, text, isRestarted: false })
  const next = { ...open, received }
  if (isRestarted) return put(state, send(next, sectionsOf(next), atMs))
  const index = textsOf([...open.recorded, ...open.received.slice(0, place)])[part].length
  const sent = { ...open.sent, [part]: open.sent[part].with(index, text) }
  return put(state, [{ ...next, sent }, textDelta(open, part, index, more)])
}

/** The item completes with what is recorded of it. Where nothing is, it is not read back, and completes with what was sent. */
const complete = (open: OpenReasoning, atMs: number): Changed => {
  const hidden = { ...open, isShown: false, isClosing: false, sent: noTexts }
  if (!open.isShown) return [hidden, []]
  const { recorded } = open
  const last = recorded.at(-1)
  if (last === undefined) return [hidden, [ends(open, atMs)]]
  const [whole, outputs] = send(open, recorded, atMs)
  return [hidden, [...outputs, ends(whole, last.atMs)]]
}

/**
 * A section was recorded, or will never be. Of one that will not be, what was sent stays until the item completes or another
 * section is received anew, which follows at once: the turn ends, or its request is repeated.
 */
export const endSection = (
  state: ProjectionState,
  open: OpenReasoning,
  core: TextItem,
  isRecorded: boolean,
  atMs: number,
): Projected => {
  const section = open.received.find(({ coreId }) => coreId === core.id)
  if (section === undefined) return none(state)
  const received = open.received.filter((one) => one !== section)
  const recorded = [...open.recorded, { part: section.part, text: core.text, atMs }]
  const after = isRecorded ? { ...open, received, recorded } : { ...open, received }
  const [next, outputs]: Changed = isRecorded ? send(after, sectionsOf(after), atMs) : [after, []]
  if (!next.isClosing || received.length > 0) return put(state, [next, outputs])
  const [hidden, end] = complete(next, atMs)
  return put(state, [hidden, [...outputs, ...end]])
}

/** A message of the turn begins: its reasoning completes before, or with its last section. */
export const suspendReasoning = (
  state: ProjectionState,
  turnId: string,
  atMs: number,
): Projected => {
  const open = of(state, turnId)
  if (open === undefined || !open.isShown) return none(state)
  return put(
    state,
    open.received.length > 0 ? [{ ...open, isClosing: true }, []] : complete(open, atMs),
  )
}

/** Another item of the turn is recorded: sections that are recorded later belong to the next item of reasoning. */
export const endReasoning = (
  state: ProjectionState,
  { turnId }: Pick<Item, "turnId">,
  atMs: number,
): Projected => {
  const open = of(state, turnId)
  if (open === undefined) return none(state)
  if (open.recorded.length === 0) return suspendReasoning(state, turnId, atMs)
  const [hidden, end] = complete(open, atMs)
  const ended = open.ended + 1
  const next = { ...hidden, ended, id: idOf(turnId, ended), recorded: [] }
  if (next.received.length === 0) return put(state, [next, end])
  const [again, starts] = shown(next, state, atMs)
  return put(state, [{ ...again, isClosing: true }, [...end, ...starts]])
}

/** The turn ends, and with it what is open of its reasoning. */
export const reasoningEnded = (
  { reasoning }: ProjectionState,
  turnId: string,
  atMs: number,
): ReadonlyArray<ItemOutput> =>
  reasoning.flatMap((open) => (open.turnId === turnId ? complete(open, atMs)[1] : []))

/** The state with what was recorded of the reasoning of the turn `before` it ended: its items follow on it if it goes on. */
export const withRecorded = (
  state: ProjectionState,
  before: ProjectionState,
  turnId: string,
): ProjectionState => {
  const open = of(before, turnId)
  if (open === undefined) return state
  const kept = { ...open, isShown: false, isClosing: false, received: [], sent: noTexts }
  return { ...state, reasoning: [...state.reasoning, kept] }
}
