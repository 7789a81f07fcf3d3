/**
 * Sections of reasoning as items: those that are recorded one after the other are one item. Pure.
 *
 * Which sections an item has follows from what is recorded only, so a log that is read back gives the same items as live
 * events. What is live only can be shown before it is known where it will be recorded:
 * - A message begins: the reasoning before it completes, although further sections of it may be recorded before the
 *   message is. The item starts again with them then.
 * - Another item is recorded between two sections: a section that is still being received then begins the next item.
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

type Texts = Pick<Section, "part" | "text">

const textsOf = (texts: ReadonlyArray<Texts>, part: Section["part"]): ReadonlyArray<string> =>
  texts.filter((one) => one.part === part).map(({ text }) => text)

/** Reasoning that has begun. */
const begunItem = ({ id, startedAtMs }: OpenReasoning): Reasoning => ({
  type: "reasoning",
  id,
  summary: [],
  content: [],
  startedAtMs,
  completedAtMs: null,
})

/** Reasoning that has ended, with these sections: when the last one was recorded, `atMs` without any. */
const endedItem = (open: OpenReasoning, atMs: number, texts: ReadonlyArray<Texts>): Reasoning => ({
  type: "reasoning",
  id: open.id,
  summary: textsOf(texts, "summary"),
  content: textsOf(texts, "content"),
  startedAtMs: open.startedAtMs,
  completedAtMs: open.recorded.at(-1)?.atMs ?? atMs,
})

const idOf = (turnId: string, ended: number): string => `${turnId}/reasoning/${ended}`

const initial = (turnId: string): OpenReasoning => ({
  id: idOf(turnId, 0),
  turnId,
  startedAtMs: 0,
  isShown: false,
  isClosing: false,
  recorded: [],
  received: [],
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

const put = (
  state: ProjectionState,
  next: OpenReasoning,
  outputs: ReadonlyArray<ItemOutput>,
): Projected => ({
  state: {
    ...state,
    reasoning: [...state.reasoning.filter(({ turnId }) => turnId !== next.turnId), next],
  },
  outputs,
})

const delta = (
  { id: itemId, turnId }: OpenReasoning,
  part: Section["part"],
  index: number,
  text: string,
): ReadonlyArray<ItemOutput> => {
  const _tag = part === "summary" ? ("SummaryDelta" as const) : ("ReasoningDelta" as const)
  return text === "" ? [] : [{ _tag, turnId, itemId, index, delta: text }]
}

/** A section as a client gets it: its begin, and its text so far. */
const sectionOutputs = (
  open: OpenReasoning,
  { part, text }: Texts,
  index: number,
): ReadonlyArray<ItemOutput> => {
  const { id: itemId, turnId } = open
  const added: ReadonlyArray<ItemOutput> =
    part === "summary" ? [{ _tag: "PartAdded", turnId, itemId, index }] : []
  return [...added, ...delta(open, part, index, text)]
}

const countOf = (texts: ReadonlyArray<Texts>, part: Section["part"]): number =>
  textsOf(texts, part).length

/** The beginning of an item that is shown, with all its sections so far. */
export const reasoningBegins = (open: OpenReasoning): ReadonlyArray<ItemOutput> => {
  const texts: ReadonlyArray<Texts> = [...open.recorded, ...open.received]
  return [
    started(open, begunItem(open)),
    ...texts.flatMap((text, place) =>
      sectionOutputs(open, text, countOf(texts.slice(0, place), text.part)),
    ),
  ]
}

/** An item that has no end yet, with its sections so far. */
export const reasoningSoFar = (open: OpenReasoning): Reasoning => {
  const texts: ReadonlyArray<Texts> = [...open.recorded, ...open.received]
  return {
    ...begunItem(open),
    summary: textsOf(texts, "summary"),
    content: textsOf(texts, "content"),
  }
}

/** The item starts, or starts again, with all its sections; what is recorded of it keeps its start. */
const shown = (
  open: OpenReasoning,
  { requestedAtMs }: ProjectionState,
  atMs: number,
): readonly [OpenReasoning, ReadonlyArray<ItemOutput>] => {
  const startedAtMs = open.recorded.length > 0 ? open.startedAtMs : (requestedAtMs ?? atMs)
  const next = { ...open, startedAtMs, isShown: true, isClosing: false }
  return [next, reasoningBegins(next)]
}

/** A section begins. */
export const startSection = (state: ProjectionState, core: TextItem, atMs: number): Projected => {
  const before = of(state, core.turnId) ?? initial(core.turnId)
  const [open, outputs] = before.isShown ? [before, []] : shown(before, state, atMs)
  const part = core.type === "reasoning" ? ("summary" as const) : ("content" as const)
  const section: Section = { coreId: core.id, part, text: "", isRestarted: false }
  const index = countOf([...open.recorded, ...open.received], part)
  return put(state, { ...open, received: [...open.received, section] }, [
    ...outputs,
    ...sectionOutputs(open, section, index),
  ])
}

/** More text of a section. */
export const sectionDelta = (
  state: ProjectionState,
  open: OpenReasoning,
  coreId: string,
  more: string,
): Projected => {
  const place = open.received.findIndex((section) => section.coreId === coreId)
  const section = open.received[place]
  if (section === undefined) return none(state)
  const { isRestarted, part, text: before } = section
  const text = isRestarted ? more : before + more
  const rest = isRestarted && more.startsWith(before) ? more.slice(before.length) : more
  const received = open.received.with(place, { ...section, text, isRestarted: false })
  const index = countOf([...open.recorded, ...open.received.slice(0, place)], part)
  return put(state, { ...open, received }, delta(open, part, index, rest))
}

/** The item completes with what is recorded of it. */
const complete = (
  open: OpenReasoning,
  atMs: number,
): readonly [OpenReasoning, ReadonlyArray<ItemOutput>] => [
  { ...open, isShown: false, isClosing: false },
  open.isShown ? [completed(open, endedItem(open, atMs, open.recorded))] : [],
]

/** A section was recorded, or will never be. */
export const endSection = (
  state: ProjectionState,
  open: OpenReasoning,
  core: TextItem,
  isRecorded: boolean,
  atMs: number,
): Projected => {
  const section = open.received.find(({ coreId }) => coreId === core.id)
  if (section === undefined) return none(state)
  const next = {
    ...open,
    received: open.received.filter((one) => one !== section),
    recorded: isRecorded
      ? [...open.recorded, { part: section.part, text: core.text, atMs }]
      : open.recorded,
  }
  return next.isClosing && next.received.length === 0
    ? put(state, ...complete(next, atMs))
    : put(state, next, [])
}

/** A message of the turn begins: its reasoning completes before, or with its last section. */
export const suspendReasoning = (
  state: ProjectionState,
  turnId: string,
  atMs: number,
): Projected => {
  const open = of(state, turnId)
  if (open === undefined || !open.isShown) return none(state)
  return open.received.length > 0
    ? put(state, { ...open, isClosing: true }, [])
    : put(state, ...complete(open, atMs))
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
  const [hidden, ends] = complete(open, atMs)
  const ended = open.ended + 1
  const next = { ...hidden, ended, id: idOf(turnId, ended), recorded: [] }
  if (next.received.length === 0) return put(state, next, ends)
  const [again, starts] = shown(next, state, atMs)
  return put(state, { ...again, isClosing: true }, [...ends, ...starts])
}

/** The turn ends, and with it what is open of its reasoning. */
export const reasoningEnded = (
  { reasoning }: ProjectionState,
  turnId: string,
  atMs: number,
): ReadonlyArray<ItemOutput> =>
  reasoning.flatMap((open) =>
    open.turnId === turnId && open.isShown
      ? [completed(open, endedItem(open, atMs, [...open.recorded, ...open.received]))]
      : [],
  )
