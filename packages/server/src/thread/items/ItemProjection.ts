/**
 * The items of this dialect from those of the core: pure, and the only place that decides which items of the core are one
 * item here. `project` takes the state after earlier changes and one change; `turnEnded` ends what is open. Live events and
 * a replayed log give the same ids and contents, and every started item completes, however its turn ends.
 *
 * - A question about a call and the call are one item, which has the id of the question.
 * - Sections of reasoning that follow on each other are one item, which has the id of the first one.
 * - A text that is sent again from its beginning, because the request to the model is repeated, completes as it is; the item
 *   then starts again. Where it only continues what was sent, as it does for a listener that fell behind, the rest is sent.
 */
import type { CallItem, Item, QuestionItem, TextItem } from "@colloquy/core/log/Item"
import { isText, type ItemChange } from "@colloquy/core/log/Items"
import type { Reasoning, ThreadItem } from "@colloquy/protocol/thread/Items"
import * as CoreItems from "./CoreItems.ts"
import { decodeChunk, noBytes } from "./Utf8Chunks.ts"

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

interface Open {
  readonly id: string
  readonly turnId: string
  readonly startedAtMs: number
}

interface OpenMessage extends Open {
  /** The text that was sent. */
  readonly sent: string
  /** The next piece begins the text anew. */
  readonly isRestarted: boolean
}

interface OpenCall extends Open {
  readonly callId: string
  /** Id of the core's item that ends it; that of the question while the call has not started. */
  readonly coreId: string
  /** The item as it was sent last. */
  readonly item: CoreItems.CallThreadItem
  /** Bytes that begin a character. */
  readonly rest: Uint8Array
}

interface OpenReasoning extends Open {
  readonly summary: ReadonlyArray<string>
  readonly content: ReadonlyArray<string>
  /** The sections that are being received, by the ids of the core. */
  readonly sections: ReadonlyMap<string, Section>
  /** It completes with its last open section. */
  readonly isClosing: boolean
}

interface Section {
  readonly part: "summary" | "content"
  readonly index: number
  readonly isRestarted: boolean
}

/** What is open after some changes. A value. */
export interface ProjectionState {
  readonly messages: ReadonlyMap<string, OpenMessage>
  readonly calls: ReadonlyArray<OpenCall>
  readonly reasoning: ReadonlyArray<OpenReasoning>
}

/** The state before the first change. */
export const initialProjection: ProjectionState = {
  messages: new Map(),
  calls: [],
  reasoning: [],
}

/** The next state, and what happened, in order. */
export interface Projected {
  readonly state: ProjectionState
  readonly outputs: ReadonlyArray<ItemOutput>
}

const none = (state: ProjectionState): Projected => ({ state, outputs: [] })

const timesOf = ({ id, startedAtMs }: Open, completedAtMs: number | null) => ({
  id,
  startedAtMs,
  completedAtMs,
})

const started = ({ turnId }: Open, item: ThreadItem): ItemOutput => ({
  _tag: "ItemStarted",
  turnId,
  item,
})

const completed = ({ turnId }: Open, item: ThreadItem): ItemOutput => ({
  _tag: "ItemCompleted",
  turnId,
  item,
})

const without = <K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> => {
  const rest = new Map(map)
  rest.delete(key)
  return rest
}

// -- reasoning

const reasoningItem = (open: OpenReasoning, completedAtMs: number | null): Reasoning => ({
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

const startSection = (state: ProjectionState, core: TextItem, atMs: number): Projected => {
  const known = state.reasoning.find(({ isClosing, turnId }) => !isClosing && turnId === core.turnId)
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

const sectionDelta = (
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

const endSection = (
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
const closeReasoning = (state: ProjectionState, turnId: string, atMs: number): Projected => {
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

// -- messages

const startMessage = (state: ProjectionState, core: TextItem, atMs: number): Projected => {
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

const messageDelta = (
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
    completed(open, CoreItems.agentMessage(timesOf(open, atMs), sent)),
    started(again, CoreItems.agentMessage(timesOf(again, null), "")),
    ...piece(delta),
  ])
}

const endMessage = (
  state: ProjectionState,
  open: OpenMessage,
  text: string,
  atMs: number,
): Projected => ({
  state: { ...state, messages: without(state.messages, open.id) },
  outputs: [completed(open, CoreItems.agentMessage(timesOf(open, atMs), text))],
})

// -- calls

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
  calls: before
    ? state.calls.map((one) => (one === before ? call : one))
    : [...state.calls, call],
})

const ask = (state: ProjectionState, core: QuestionItem, atMs: number): Projected => {
  // A call that runs already and asks something more is shown already.
  if (state.calls.some(({ callId }) => callId === core.callId)) return none(state)
  const open = { id: core.id, turnId: core.turnId, startedAtMs: atMs }
  const item = CoreItems.questionedCall(timesOf(open, null), core, "running")
  if (item === undefined) return none(state)
  const call: OpenCall = { ...open, callId: core.callId, coreId: core.id, item, rest: noBytes }
  return { state: withCall(state, call, undefined), outputs: [started(call, item)] }
}

const resolve = (state: ProjectionState, core: QuestionItem, atMs: number): Projected => {
  const call = state.calls.find(({ coreId }) => coreId === core.id)
  if (call === undefined || core.status === "completed") return none(state)
  const item = CoreItems.questionedCall(timesOf(call, atMs), core, "declined")
  return {
    state: withoutCall(state, call),
    outputs: item === undefined ? [] : [completed(call, item)],
  }
}

type RealCall = Exclude<CallItem, QuestionItem>

const startCall = (state: ProjectionState, core: RealCall, atMs: number): Projected => {
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
  }
  return {
    state: withCall(state, call, asked),
    outputs: asked === undefined ? [started(call, item)] : [],
  }
}

const endCall = (state: ProjectionState, core: RealCall, atMs: number): Projected => {
  const call = state.calls.find(({ coreId }) => coreId === core.id)
  if (call === undefined) return none(state)
  return {
    state: withoutCall(state, call),
    outputs: [completed(call, CoreItems.callItem(timesOf(call, atMs), core))],
  }
}

const outputDelta = (state: ProjectionState, call: OpenCall, chunk: string): Projected => {
  const { rest, text: delta } = decodeChunk(call.rest, chunk)
  const { id: itemId, turnId } = call
  return {
    state:
      rest === noBytes && call.rest === noBytes ? state : withCall(state, { ...call, rest }, call),
    outputs: delta === "" ? [] : [{ _tag: "OutputDelta", turnId, itemId, delta }],
  }
}

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

const isCall = (core: Item): core is RealCall => "callId" in core && core.type !== "question" && core.type !== "image_view"

const isSection = (core: Item): core is TextItem =>
  core.type === "reasoning" || core.type === "raw_reasoning"

const afterReasoning = (
  state: ProjectionState,
  core: Item,
  atMs: number,
  then: (state: ProjectionState) => Projected,
): Projected => {
  const closed = closeReasoning(state, core.turnId, atMs)
  const next = then(closed.state)
  return { state: next.state, outputs: [...closed.outputs, ...next.outputs] }
}

const begin = (state: ProjectionState, core: Item, atMs: number): Projected => {
  if (isSection(core)) return startSection(state, core, atMs)
  return afterReasoning(state, core, atMs, (after) => {
    if (isText(core)) return startMessage(after, core, atMs)
    if (core.type === "question") return ask(after, core, atMs)
    return isCall(core) ? startCall(after, core, atMs) : none(after)
  })
}

const end = (state: ProjectionState, core: Item, atMs: number): Projected => {
  if (isText(core)) {
    const section = state.reasoning.find(({ sections }) => sections.has(core.id))
    if (section !== undefined) return endSection(state, section, core, atMs)
    const message = state.messages.get(core.id)
    return message === undefined ? none(state) : endMessage(state, message, core.text, atMs)
  }
  if (core.type === "question") return resolve(state, core, atMs)
  return isCall(core) ? endCall(state, core, atMs) : single(state, core, atMs)
}

const more = (state: ProjectionState, id: string, delta: string, atMs: number): Projected => {
  const message = state.messages.get(id)
  if (message !== undefined) return messageDelta(state, message, delta, atMs)
  const section = state.reasoning.find(({ sections }) => sections.has(id))
  if (section !== undefined) return sectionDelta(state, section, id, delta)
  const call = state.calls.find(({ coreId }) => coreId === id)
  return call === undefined ? none(state) : outputDelta(state, call, delta)
}

const restarted = (state: ProjectionState, applies: (id: string) => boolean): ProjectionState => ({
  ...state,
  messages: new Map(
    [...state.messages].map(([id, open]) => [id, applies(id) ? { ...open, isRestarted: true } : open]),
  ),
  reasoning: state.reasoning.map((open) => ({
    ...open,
    sections: new Map(
      [...open.sections].map(([id, one]) => [id, applies(id) ? { ...one, isRestarted: true } : one]),
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
    case "Reset":
      return none(restarted(state, (id) => id === change.id))
    case "Completed":
    case "Discarded":
      return end(state, change.item, atMs)
  }
}

/** The next piece of every open text contains all of it: the listener fell behind. */
export const resynced = (state: ProjectionState): ProjectionState => restarted(state, () => true)

const unfinished = (call: OpenCall, completedAtMs: number): ThreadItem => ({
  ...call.item,
  ...("status" in call.item ? { status: "failed" as const } : {}),
  completedAtMs,
}) as ThreadItem

/** Completes what the turn has left open. */
export const turnEnded = (state: ProjectionState, turnId: string, atMs: number): Projected => {
  const isOf = (open: Open) => open.turnId === turnId
  const messages = [...state.messages.values()]
  return {
    state: {
      messages: new Map(messages.filter((open) => !isOf(open)).map((open) => [open.id, open])),
      calls: state.calls.filter((open) => !isOf(open)),
      reasoning: state.reasoning.filter((open) => !isOf(open)),
    },
    outputs: [
      ...state.reasoning
        .filter(isOf)
        .map((open) => completed(open, reasoningItem({ ...open, sections: new Map() }, atMs))),
      ...messages
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
