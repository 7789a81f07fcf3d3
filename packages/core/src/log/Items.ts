/**
 * The one fold from events to items. Pure: `step` takes the state after earlier events and one event, and gives the next
 * state and what changed; `itemsOf` folds a whole log. Resources and transcripts are made of it, and so is every dialect
 * that reports items. It never reads a clock, and keeps only what is still open.
 *
 * Live events and a replayed log give the same ids and the same contents: only durable events count in ids, and a recorded
 * text replaces the one that was received in deltas. Every started item ends, however its turn ends:
 *
 * ```
 *            Started ──► Delta* ──► Completed { completed | failed | declined }
 *                          │
 *                          ├─ the request is repeated ──► Reset ──► Delta* …
 *                          └─ the turn ends first ──► Completed { interrupted }, or Discarded for a text that was
 *                             never recorded; its id may be given to a later item
 * ```
 */
import {
  type Event,
  eventInfo,
  type EventMsg,
  type EventOf,
  isTerminal,
} from "@colloquy/protocol/EventMsg"
import { callEnd, callStart, singleItem } from "./ItemEvents.ts"
import { withoutReverted } from "./Reverted.ts"
import type { CallItem, Item, TextItem } from "./Item.ts"
import { continuedText, type OpenText } from "./OpenText.ts"

/** What one event did to the items. */
export type ItemChange =
  | { readonly _tag: "Started"; readonly item: Item }
  /** More of an item: text, or for a command a chunk of its output in base64. */
  | { readonly _tag: "Delta"; readonly id: string; readonly delta: string }
  /** A tool server says how far the call is that this item shows. */
  | {
      readonly _tag: "Progress"
      readonly id: string
      readonly report: Pick<EventOf<"mcp_tool_call_progress">, "message" | "progress" | "total">
    }
  /** The text so far is void, because the request to the model is repeated. */
  | { readonly _tag: "Reset"; readonly id: string }
  /** The item has ended, with the status it has now. */
  | { readonly _tag: "Completed"; readonly item: Item }
  /** A text was not recorded: the item is not part of the conversation. */
  | { readonly _tag: "Discarded"; readonly item: Item }

/** What is open after some events. A value: a state may be kept and continued from more than once. */
export interface ItemsState {
  /** Id of the running turn. */
  readonly turnId: string | undefined
  /** Number of ids given, by their part before the number, for submissions that have not ended. */
  readonly counts: ReadonlyMap<string, number>
  /** Texts that are being received, oldest first. */
  readonly texts: ReadonlyArray<OpenText>
  /** Calls and questions without an end, oldest first. */
  readonly calls: ReadonlyArray<CallItem>
}

/** The state before the first event. */
export const initialItems: ItemsState = {
  turnId: undefined,
  counts: new Map(),
  texts: [],
  calls: [],
}

/** The next state, and what changed in the order in which it happened. */
export interface ItemsStep {
  readonly state: ItemsState
  readonly changes: ReadonlyArray<ItemChange>
}

const unchanged = (state: ItemsState): ItemsStep => ({ state, changes: [] })

const prefixOf = (turnId: string, type: Item["type"]): string => `${turnId}/${type}/`

/** Id of the first item of a type in a submission. */
export const firstItemId = (turnId: string, type: Item["type"]): string =>
  `${prefixOf(turnId, type)}0`

const countOf = ({ counts }: ItemsState, prefix: string): number => counts.get(prefix) ?? 0

const counted = (state: ItemsState, prefix: string): ItemsState["counts"] =>
  new Map(state.counts).set(prefix, countOf(state, prefix) + 1)

const interrupted = (item: CallItem): ItemChange => ({
  _tag: "Completed",
  item: { ...item, status: "interrupted" },
})

const discarded = ({ item }: OpenText): ItemChange => ({ _tag: "Discarded", item })

// -- texts

/** The events that carry a piece of a text, with the type of its item. */
export const textTypes = {
  agent_message_delta: "agent_message",
  agent_reasoning_delta: "reasoning",
  agent_reasoning_raw_content_delta: "raw_reasoning",
} as const satisfies Readonly<Record<string, TextItem["type"]>>

/** True for an item whose text arrives in deltas. */
export const isText = (item: Item): item is TextItem =>
  item.type === "agent_message" || item.type === "reasoning" || item.type === "raw_reasoning"

const isOf =
  (turnId: string, type: TextItem["type"]) =>
  ({ item }: OpenText): boolean =>
    item.turnId === turnId && item.type === type

/** The piece begins the text of the first item anew; the later ones are void. */
const replaceTexts = (
  state: ItemsState,
  first: OpenText,
  later: ReadonlyArray<OpenText>,
  delta: string,
): ItemsStep => {
  const item = { ...first.item, text: delta }
  return {
    state: { ...state, texts: [...state.texts, { item, isClosed: false, isReplaced: false }] },
    changes: [
      ...later.map(discarded),
      { _tag: "Reset", id: item.id },
      { _tag: "Delta", id: item.id, delta },
    ],
  }
}

/** A piece of a text: it continues the newest open text of its type, or starts one. */
const addDelta = (
  state: ItemsState,
  turnId: string,
  type: TextItem["type"],
  delta: string,
): ItemsStep => {
  const only = continuedText(state.texts, turnId, type, delta)
  if (only !== undefined) {
    const { calls, counts, turnId: running } = state
    return {
      state: { turnId: running, counts, texts: [only], calls },
      changes: [{ _tag: "Delta", id: only.item.id, delta }],
    }
  }
  const own = state.texts.filter(isOf(turnId, type))
  const others = state.texts.filter((text) => !own.includes(text))
  const [first, ...rest] = own
  if (first?.isReplaced === true)
    return replaceTexts({ ...state, texts: others }, first, rest, delta)
  const last = own.at(-1)
  if (last !== undefined && !last.isClosed) {
    const next = { ...last, item: { ...last.item, text: last.item.text + delta } }
    return {
      state: { ...state, texts: [...others, ...own.slice(0, -1), next] },
      changes: [{ _tag: "Delta", id: last.item.id, delta }],
    }
  }
  const prefix = prefixOf(turnId, type)
  const id = `${prefix}${countOf(state, prefix) + own.length}`
  const item: TextItem = { type, id, turnId, status: "running", text: "" }
  const text = { item: { ...item, text: delta }, isClosed: false, isReplaced: false }
  return {
    state: { ...state, texts: [...state.texts, text] },
    changes: [
      { _tag: "Started", item },
      { _tag: "Delta", id, delta },
    ],
  }
}

/** A recorded text: it ends the oldest open text of its type, or is an item at once. */
const completeText = (
  state: ItemsState,
  turnId: string,
  type: TextItem["type"],
  text: string,
): ItemsStep => {
  const open = state.texts.find(isOf(turnId, type))
  const prefix = prefixOf(turnId, type)
  const id = open?.item.id ?? `${prefix}${countOf(state, prefix)}`
  const item: TextItem = { type, id, turnId, status: "completed", text }
  const started: ReadonlyArray<ItemChange> =
    open === undefined ? [{ _tag: "Started", item: { ...item, status: "running", text: "" } }] : []
  return {
    state: {
      ...state,
      counts: counted(state, prefix),
      texts: state.texts.filter((one) => one !== open),
    },
    changes: [...started, { _tag: "Completed", item }],
  }
}

const changeTexts = (
  state: ItemsState,
  turnId: string,
  change: Partial<Pick<OpenText, "isClosed" | "isReplaced">>,
  type?: TextItem["type"],
): ItemsStep =>
  unchanged({
    ...state,
    texts: state.texts.map((text) =>
      text.item.turnId === turnId && (type === undefined || text.item.type === type)
        ? { ...text, ...change }
        : text,
    ),
  })

// -- calls, and items that one event makes

const startCall = (
  state: ItemsState,
  turnId: string,
  make: (base: Pick<CallItem, "id" | "turnId"> & { readonly status: "running" }) => CallItem,
): ItemsStep => {
  const draft = make({ id: "", turnId, status: "running" })
  const prefix = prefixOf(turnId, draft.type)
  const item = { ...draft, id: `${prefix}${countOf(state, prefix)}` }
  // A second attempt of the same call: the first one will get no end.
  const earlier = state.calls.filter(
    ({ callId, type }) => callId === item.callId && type === item.type,
  )
  return {
    state: {
      ...state,
      counts: counted(state, prefix),
      calls: [...state.calls.filter((one) => !earlier.includes(one)), item],
    },
    changes: [...earlier.map(interrupted), { _tag: "Started", item }],
  }
}

const endCall = (state: ItemsState, end: (item: CallItem) => CallItem | undefined): ItemsStep => {
  for (const open of state.calls) {
    const item = end(open)
    if (item === undefined) continue
    return {
      state: { ...state, calls: state.calls.filter((one) => one !== open) },
      changes: [{ _tag: "Completed", item }],
    }
  }
  return unchanged(state)
}

const addSingle = (
  state: ItemsState,
  turnId: string,
  make: (base: Pick<Item, "id" | "turnId"> & { readonly status: "completed" }) => Item,
): ItemsStep => {
  const draft = make({ id: "", turnId, status: "completed" })
  const prefix = prefixOf(turnId, draft.type)
  const item = { ...draft, id: `${prefix}${countOf(state, prefix)}` }
  return {
    state: { ...state, counts: counted(state, prefix) },
    changes: [
      { _tag: "Started", item: { ...item, status: "running" } },
      { _tag: "Completed", item },
    ],
  }
}

// -- turns

/** Ends the open items of a submission, or all of them when none is given. */
const close = (state: ItemsState, turnId?: string): ItemsStep => {
  const isClosed = (item: Item) => turnId === undefined || item.turnId === turnId
  const texts = state.texts.filter(({ item }) => isClosed(item))
  const calls = state.calls.filter(isClosed)
  return {
    state: {
      ...state,
      texts: state.texts.filter((text) => !texts.includes(text)),
      calls: state.calls.filter((call) => !calls.includes(call)),
    },
    changes: [...calls.map(interrupted), ...texts.map(discarded)],
  }
}

const startTurn = (state: ItemsState, turnId: string): ItemsStep => {
  if (state.turnId === turnId) return unchanged(state)
  const closed = close(state)
  return { ...closed, state: { ...closed.state, turnId } }
}

/** The end of a submission that only waited ends nothing of the running turn. */
const endTurn = (state: ItemsState, turnId: string, msg: EventMsg): ItemsStep => {
  const isRunning = state.turnId === undefined || state.turnId === turnId
  const closed = close(state, isRunning ? undefined : turnId)
  const make = singleItem(msg)
  const last = make === undefined ? unchanged(closed.state) : addSingle(closed.state, turnId, make)
  const counts = [...last.state.counts].filter(([prefix]) => !prefix.startsWith(`${turnId}/`))
  return {
    state: {
      ...last.state,
      turnId: isRunning ? undefined : state.turnId,
      counts: new Map(counts),
    },
    changes: [...closed.changes, ...last.changes],
  }
}

const outputDelta = (state: ItemsState, callId: string, delta: string): ItemsStep => {
  const open = state.calls.find((call) => call.type === "command" && call.callId === callId)
  return open === undefined
    ? unchanged(state)
    : { state, changes: [{ _tag: "Delta", id: open.id, delta }] }
}

const callProgress = (
  state: ItemsState,
  { call_id: callId, type: _, ...report }: EventOf<"mcp_tool_call_progress">,
): ItemsStep => {
  const open = state.calls.find((call) => call.type === "mcp_tool_call" && call.callId === callId)
  return open === undefined
    ? unchanged(state)
    : { state, changes: [{ _tag: "Progress", id: open.id, report }] }
}

/** Folds one event. An event that makes no item gives the same state and no changes. */
export const step = (state: ItemsState, { id, msg }: Pick<Event, "id" | "msg">): ItemsStep => {
  switch (msg.type) {
    case "agent_message_delta":
    case "agent_reasoning_delta":
    case "agent_reasoning_raw_content_delta":
      // Without text there is nothing to record, so there is no item either.
      return msg.delta === ""
        ? unchanged(state)
        : addDelta(state, id, textTypes[msg.type], msg.delta)
    case "agent_message":
      return completeText(state, id, "agent_message", msg.message)
    case "agent_reasoning":
      return completeText(state, id, "reasoning", msg.text)
    case "agent_reasoning_raw_content":
      return completeText(state, id, "raw_reasoning", msg.text)
    case "agent_reasoning_section_break":
      return changeTexts(state, id, { isClosed: true }, "reasoning")
    case "exec_command_output_delta":
      return outputDelta(state, msg.call_id, msg.chunk)
    case "mcp_tool_call_progress":
      return callProgress(state, msg)
    case "task_started":
      return startTurn(state, id)
    case "shutdown_complete":
      return close(state)
    default:
      return stepOther(state, id, msg)
  }
}

const stepOther = (state: ItemsState, id: string, msg: EventMsg): ItemsStep => {
  if (isTerminal(msg)) return endTurn(state, id, msg)
  const start = callStart(msg)
  if (start !== undefined) return startCall(state, id, start)
  const end = callEnd(msg)
  if (end !== undefined) return endCall(state, end)
  const single = singleItem(msg)
  if (single !== undefined) return addSingle(state, id, single)
  // The response is over: a text that it did not record is replaced by the text of the next one.
  return eventInfo(msg.type).completes.length > 0 && state.texts.length > 0
    ? changeTexts(state, id, { isReplaced: true })
    : unchanged(state)
}

/**
 * The items of a whole log that are still part of the conversation: in the order in which they were first recorded, then the texts that are being received.
 */
export const itemsOf = (events: ReadonlyArray<Pick<Event, "id" | "msg">>): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  const places = new Map<string, number>()
  let state = initialItems
  for (const event of withoutReverted(events)) {
    const next = step(state, event)
    state = next.state
    for (const change of next.changes) {
      if (change._tag !== "Completed" && change._tag !== "Started") continue
      const { item } = change
      // A text has its place when it is recorded: other items may be recorded before it.
      if (change._tag === "Started" && isText(item)) continue
      const place = places.get(item.id)
      if (place === undefined) places.set(item.id, items.push(item) - 1)
      else items[place] = item
    }
  }
  return [...items, ...state.texts.map(({ item }) => item)]
}
