/** Sections of reasoning as items: those that follow on each other are one. Pure. */
import type { TextItem } from "@colloquy/core/log/Item"
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
  without,
} from "./ProjectionState.ts"

/** Reasoning; its texts are shown when it ends. */
export const reasoningItem = (open: OpenReasoning, completedAtMs: number | null): Reasoning => ({
  type: "reasoning",
  id: open.id,
  summary: completedAtMs === null ? [] : open.summary,
  content: completedAtMs === null ? [] : open.content,
  startedAtMs: open.startedAtMs,
  completedAtMs,
})

const replaced = (
  state: ProjectionState,
  open: OpenReasoning,
  next: OpenReasoning | undefined,
): ProjectionState => ({
  ...state,
  reasoning: state.reasoning.flatMap((one) => (one === open ? (next ? [next] : []) : [one])),
})

/** A section begins: of the reasoning that is open in the turn, or of a new one. */
export const startSection = (state: ProjectionState, core: TextItem, atMs: number): Projected => {
  const known = state.reasoning.find(
    ({ isClosing, turnId }) => !isClosing && turnId === core.turnId,
  )
  const open: OpenReasoning = known ?? {
    id: core.id,
    turnId: core.turnId,
    startedAtMs: atMs,
    summary: [],
    content: [],
    sections: new Map(),
    isClosing: false,
  }
  const part = core.type === "reasoning" ? ("summary" as const) : ("content" as const)
  const index = open[part].length
  const next: OpenReasoning = {
    ...open,
    [part]: [...open[part], ""],
    sections: new Map(open.sections).set(core.id, { part, index, isRestarted: false }),
  }
  const { id: itemId, turnId } = open
  return {
    state:
      known === undefined
        ? { ...state, reasoning: [...state.reasoning, next] }
        : replaced(state, known, next),
    outputs: [
      ...(known === undefined ? [started(open, reasoningItem(open, null))] : []),
      ...(part === "summary" ? [{ _tag: "PartAdded" as const, turnId, itemId, index }] : []),
    ],
  }
}

const withText = (open: OpenReasoning, { index, part }: Section, text: string): OpenReasoning => ({
  ...open,
  [part]: open[part].with(index, text),
})

/** More text of a section. */
export const sectionDelta = (
  state: ProjectionState,
  open: OpenReasoning,
  coreId: string,
  delta: string,
): Projected => {
  const section = open.sections.get(coreId)
  if (section === undefined) return none(state)
  const { index, isRestarted, part } = section
  const before = open[part][index] ?? ""
  const continues = !isRestarted || delta.startsWith(before)
  const rest = isRestarted && continues ? delta.slice(before.length) : delta
  const next = withText(open, section, isRestarted ? delta : before + delta)
  const sections = isRestarted
    ? new Map(open.sections).set(coreId, { ...section, isRestarted: false })
    : open.sections
  const { id: itemId, turnId } = open
  const tag = part === "summary" ? ("SummaryDelta" as const) : ("ReasoningDelta" as const)
  const added: ReadonlyArray<ItemOutput> =
    rest === "" ? [] : [{ _tag: tag, turnId, itemId, index, delta: rest }]
  return { state: replaced(state, open, { ...next, sections }), outputs: added }
}

/** A section was recorded. */
export const endSection = (
  state: ProjectionState,
  open: OpenReasoning,
  core: TextItem,
  atMs: number,
): Projected => {
  const section = open.sections.get(core.id)
  if (section === undefined) return none(state)
  const next = {
    ...withText(open, section, core.text),
    sections: without(open.sections, core.id),
  }
  return next.isClosing && next.sections.size === 0
    ? {
        state: replaced(state, open, undefined),
        outputs: [completed(next, reasoningItem(next, atMs))],
      }
    : none(replaced(state, open, next))
}

/** Reasoning of the turn ends before another item of it, at once or with its last section. */
export const closeReasoning = (state: ProjectionState, turnId: string, atMs: number): Projected => {
  const outputs: Array<ItemOutput> = []
  const reasoning = state.reasoning.flatMap((open) => {
    if (open.turnId !== turnId) return [open]
    if (open.sections.size > 0) return [{ ...open, isClosing: true }]
    outputs.push(completed(open, reasoningItem(open, atMs)))
    return []
  })
  return reasoning.length === 0 && state.reasoning.length === 0
    ? none(state)
    : { state: { ...state, reasoning }, outputs }
}
