/**
 * The responses that a server owes for an input by JSON-RPC alone: which lines are requests, and which ids their responses
 * must have. Does not use the program's own decoder, so that a mistake there is not repeated here. Pure.
 */
import * as Tree from "@colloquy/simulation/fuzz/JsonTree"

/** An id as a key: strings and numbers never coincide, all digits of an integer count. `null` when there is no id. */
export type IdKey = string

/** The key of a response without an id. */
export const noId: IdKey = "null"

/** The responses owed for one message or one line. */
export type Owed =
  | { readonly kind: "nothing" }
  /** One response with exactly this id. */
  | { readonly kind: "response"; readonly id: IdKey }
  /** One response, with this id or without one: whether an id of this form is valid is left open. */
  | { readonly kind: "either"; readonly id: IdKey }
  /** At most this number of responses: the line nests deeper than this reader reads. */
  | { readonly kind: "unknown"; readonly most: number }
  /** When the batch is accepted, the responses owed for each member; when it is refused, one error without an id. */
  | { readonly kind: "batch"; readonly members: ReadonlyArray<Owed> }

const nothing: Owed = { kind: "nothing" }
const anError: Owed = { kind: "response", id: noId }

const nameOf = (key: string): string => {
  try {
    return JSON.parse(key) as string
  } catch {
    return key
  }
}

/** The member of an object; the last one of a repeated name, as for `JSON.parse`. */
export const memberOf = (tree: Tree.JsonTree, name: string): Tree.JsonTree | undefined =>
  tree.kind === "object"
    ? tree.members.findLast(({ key }) => nameOf(key) === name)?.value
    : undefined

const integer = /^-?\d+$/

/** Number of digits that every JSON parser preserves. */
const maxPlainDigits = 15

const isText = (value: Tree.JsonTree): value is Extract<Tree.JsonTree, { kind: "text" }> =>
  value.kind === "text"

/** The key of an id, and whether the id is valid beyond doubt. */
export const idOf = (
  value: Tree.JsonTree | undefined,
): readonly [id: IdKey, isPlain: boolean] | undefined => {
  if (value === undefined || !isText(value)) return undefined
  const { text } = value
  if (text.startsWith('"')) {
    const parsed = nameOf(text)
    return [`s${parsed}`, parsed.length <= 1_024]
  }
  if (!/^-?\d/.test(text)) return undefined
  const number = Number(text)
  const isExact = integer.test(text) && !Number.isSafeInteger(number)
  const id = isExact ? `n${text}` : `n${Object.is(number, -0) ? 0 : number}`
  return [id, integer.test(text) && text.length <= maxPlainDigits]
}

const ofId = (tree: Tree.JsonTree): Owed => {
  const found = idOf(memberOf(tree, "id"))
  if (found === undefined) return anError
  const [id, isPlain] = found
  return { kind: isPlain ? "response" : "either", id }
}

const ofMessage = (tree: Tree.JsonTree): Owed => {
  if (tree.kind !== "object") return anError
  const method = memberOf(tree, "method")
  if (method !== undefined) {
    const isCall = isText(method) && method.text.startsWith('"')
    return isCall && memberOf(tree, "id") === undefined ? nothing : ofId(tree)
  }
  // A response, valid or not, is never answered, because that could continue without end.
  const isResponse = memberOf(tree, "result") ?? memberOf(tree, "error")
  return isResponse === undefined ? ofId(tree) : nothing
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const textOf = (line: Uint8Array): string | undefined => {
  try {
    return utf8.decode(line)
  } catch {
    return undefined
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const ofText = (text: string): Owed => {
  if (!isJson(text)) return anError
  const tree = Tree.parse(text)
  // The number of members of such a batch is not known here.
  if (tree === undefined) {
    return { kind: "unknown", most: text.trimStart().startsWith("[") ? text.length : 1 }
  }
  return tree.kind === "array"
    ? { kind: "batch", members: tree.items.map(ofMessage) }
    : ofMessage(tree)
}

/** One line of an input. */
export interface Line {
  /** The text without the line break; undefined for bytes that are not UTF-8. */
  readonly text: string | undefined
  readonly owed: Owed
}

const linesOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const lines: Array<Uint8Array> = []
  let from = 0
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, from)) {
    lines.push(bytes.subarray(from, at))
    from = at + 1
  }
  lines.push(bytes.subarray(from))
  return lines
}

/** A line that is too long is not parsed: a response is not answered, and any other message is answered with an id that was found in it. */
const ofOverlong = (line: Uint8Array): Owed => {
  const tree = Tree.parse(new TextDecoder().decode(line))
  const sure = tree === undefined ? undefined : ofMessage(tree)
  return sure?.kind === "response" ? { kind: "either", id: "*" } : { kind: "unknown", most: 1 }
}

/**
 * The lines of an input that are not blank, with the responses owed for them.
 *
 * @param maxLineBytes longer lines are owed one error
 */
export const linesOwed = (bytes: Uint8Array, maxLineBytes: number): ReadonlyArray<Line> =>
  linesOf(bytes).flatMap((line): ReadonlyArray<Line> => {
    const decoded = textOf(line)
    if (line.length > maxLineBytes) return [{ text: decoded, owed: ofOverlong(line) }]
    if (decoded === undefined) return [{ text: undefined, owed: anError }]
    const text = decoded.replace(/^\ufeff/, "").replace(/\r$/, "")
    return /^[ \t\r]*$/.test(text) ? [] : [{ text, owed: ofText(text) }]
  })
