/**
 * Compares the messages of the original and of Colloquy, request by request, and returns every mismatch. Knows no
 * documented difference by name.
 */
import { event, type WireMessage } from "./Wire.ts"

export interface Mismatch {
  /**
   * The id of the request it belongs to, as JSON; `null` for responses to messages without a usable id. For a request
   * of the server its place among such requests, from 0: both programs number their own.
   */
  readonly request: string
  /** `response`, or `event:` and the event's type. */
  readonly label: string
  /** `missing`: only the original has it; `added`: only Colloquy has it. */
  readonly kind: "missing" | "added" | "changed"
  /** Members from the message down, joined by dots; empty for the whole message. */
  readonly path: string
  readonly original?: unknown
  readonly ours?: unknown
}

/** How the messages of a dialect are compared. */
export interface Reading {
  /** The messages whose order matters among each other, by what `request` of their mismatches is. */
  readonly groups: (
    messages: ReadonlyArray<WireMessage>,
  ) => ReadonlyMap<string, ReadonlyArray<WireMessage>>
  readonly labelOf: (message: WireMessage) => string
  /** Messages with the same key are the same message of both programs. Default: the label. */
  readonly keyOf?: (message: WireMessage) => string
}

const isEvent = (message: WireMessage) => message.method === "codex/event"

const requestOf = (message: WireMessage): string =>
  JSON.stringify(isEvent(message) ? event(message)._meta?.["requestId"] : message.id)

const labelOf = (message: WireMessage): string =>
  isEvent(message) ? `event:${event(message).msg.type}` : (message.method ?? "response")

type Pair = readonly [original: WireMessage | undefined, ours: WireMessage | undefined]

/** Pairs messages of the same key in order, as many as possible; the rest stay unpaired. */
const align = (
  original: ReadonlyArray<WireMessage>,
  ours: ReadonlyArray<WireMessage>,
  keyOf: (message: WireMessage) => string,
): ReadonlyArray<Pair> => {
  // longest[i][j]: number of pairs of original[i…] and ours[j…]
  const longest = Array.from({ length: original.length + 1 }, () =>
    Array.from({ length: ours.length + 1 }, () => 0),
  )
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0
  const same = (i: number, j: number) => {
    const [a, b] = [original[i], ours[j]]
    return a !== undefined && b !== undefined && keyOf(a) === keyOf(b)
  }
  for (let i = original.length - 1; i >= 0; i--) {
    const row = longest[i] ?? []
    for (let j = ours.length - 1; j >= 0; j--) {
      row[j] = same(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: Array<Pair> = []
  let [i, j] = [0, 0]
  while (i < original.length || j < ours.length) {
    if (same(i, j) && at(i, j) === at(i + 1, j + 1) + 1) pairs.push([original[i++], ours[j++]])
    else if (j >= ours.length || (i < original.length && at(i + 1, j) >= at(i, j + 1))) {
      pairs.push([original[i++], undefined])
    } else pairs.push([undefined, ours[j++]])
  }
  return pairs
}

const isObject = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null

type Finding = Pick<Mismatch, "kind" | "path" | "original" | "ours">

const members = (path: string, original: object, ours: object): ReadonlyArray<Finding> => {
  const [a, b] = [original, ours] as ReadonlyArray<Readonly<Record<string, unknown>>>
  return [...new Set([...Object.keys(original), ...Object.keys(ours)])].flatMap((key) => {
    const inner = path === "" ? key : `${path}.${key}`
    if (!Object.hasOwn(ours, key)) return [{ kind: "missing", path: inner, original: a?.[key] }]
    if (!Object.hasOwn(original, key)) return [{ kind: "added", path: inner, ours: b?.[key] }]
    return values(inner, a?.[key], b?.[key])
  })
}

/** `…` replaces a text of the original, or a part of it: any text of this server matches it. */
const isProse = (original: unknown, ours: unknown): boolean => {
  if (typeof original !== "string" || typeof ours !== "string" || ours === "") return false
  const [first = "", ...rest] = original.split("…")
  const last = rest.pop()
  if (last === undefined || !ours.startsWith(first)) return false
  let at = first.length
  for (const piece of rest) {
    const found = ours.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return ours.length - last.length >= at && ours.endsWith(last)
}

/** Lists of the same length, or lists of objects to which Colloquy only adds. */
const isPrefix = (original: ReadonlyArray<unknown>, ours: Readonly<Record<string, unknown>>) =>
  original.length === ours["length"] ||
  (original.every(isObject) && original.length < Number(ours["length"]))

const values = (path: string, original: unknown, ours: unknown): ReadonlyArray<Finding> => {
  if (Object.is(original, ours) || isProse(original, ours)) return []
  const comparable =
    isObject(original) &&
    isObject(ours) &&
    Array.isArray(original) === Array.isArray(ours) &&
    (!Array.isArray(original) || isPrefix(original, ours))
  return comparable ? members(path, original, ours) : [{ kind: "changed", path, original, ours }]
}

const groups = (messages: ReadonlyArray<WireMessage>) => {
  let ownRequests = 0
  return Map.groupBy(messages, (message) =>
    message.method !== undefined && message.id !== undefined
      ? JSON.stringify(ownRequests++)
      : requestOf(message),
  )
}

/** MCP and app-server v1: the order matters within a request, not between requests, which run concurrently. */
const byRequest: Reading = { groups, labelOf }

/** Every mismatch. */
export const compare = (
  original: ReadonlyArray<WireMessage>,
  ours: ReadonlyArray<WireMessage>,
  { groups, labelOf, keyOf = labelOf }: Reading = byRequest,
): ReadonlyArray<Mismatch> => {
  const [theirs, mine] = [groups(original), groups(ours)]
  return [...new Set([...theirs.keys(), ...mine.keys()])].flatMap((request) =>
    align(theirs.get(request) ?? [], mine.get(request) ?? [], keyOf).flatMap(
      ([a, b]): ReadonlyArray<Mismatch> => {
        if (a === undefined && b === undefined) return []
        if (a === undefined || b === undefined) {
          const label = labelOf(a ?? b ?? {})
          return a === undefined
            ? [{ request, label, kind: "added", path: "", ours: b }]
            : [{ request, label, kind: "missing", path: "", original: a }]
        }
        return members("", a, b).map((finding) => ({ request, label: labelOf(a), ...finding }))
      },
    ),
  )
}
