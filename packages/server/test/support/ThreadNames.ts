/** The ids, cursors and paths that a server of app-server v2 chooses, named by what introduced them: the same name for both programs. */
import type { WireMessage } from "./Wire.ts"

/** A message of the server with the connection and the process that sent it. */
export interface Sent {
  /** Empty for the only connection of the first process. */
  readonly from: string
  readonly message: WireMessage
}

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null

/** The member of a value, if it is there. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)

/** The member of a value if it is a text, else nothing. */
export const textAt = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : ""
}

/** What the response to a request may introduce, in the order in which names are given. */
const introduced: ReadonlyArray<readonly [name: string, ...path: ReadonlyArray<string>]> = [
  ["thread", "thread", "id"],
  ["file", "thread", "path"],
  ["turn", "turn", "id"],
  ["review thread", "reviewThreadId"],
  ["login", "loginId"],
  ["authUrl", "authUrl"],
]

/** What is named only if nothing else has introduced it. */
const cursors: typeof introduced = [
  ["nextCursor", "nextCursor"],
  ["backwardsCursor", "backwardsCursor"],
  ["turnsCursor", "turnsBackwardsCursor"],
  ["itemsCursor", "itemsBackwardsCursor"],
  ["pageNextCursor", "initialTurnsPage", "nextCursor"],
  ["pageBackwardsCursor", "initialTurnsPage", "backwardsCursor"],
  ["version", "version"],
  ["submission", "queuedSubmission", "id"],
  ["session", "sessionId"],
]

class Names {
  /** The first name of each value. */
  readonly known = new Map<string, string>()
  /** The value of every name. */
  readonly values = new Map<string, string>()
  private readonly counts = new Map<string, number>()
  private readonly lists = new Map<string, Array<string>>()

  /** Names the value. Later names of the same value only lead to it. A word without a digit is no id. */
  add(name: string, value: unknown): void {
    if (typeof value !== "string" || !/\d/.test(value)) return
    // A short text, such as a number, is also part of others.
    if (value.length > 5 && !this.known.has(value)) this.known.set(value, `<${name}>`)
    if (!this.values.has(`<${name}>`)) this.values.set(`<${name}>`, value)
  }

  /** Names the value by its place among those of its kind. */
  count(kind: string, value: unknown): void {
    if (typeof value !== "string" || this.known.has(value)) return
    const place = (this.counts.get(kind) ?? 0) + 1
    this.counts.set(kind, place)
    this.add(`${kind} ${place}`, value)
  }

  /** Names the value by its place among the different ones of its kind. Only its name leads to it. */
  list(kind: string, value: unknown): void {
    const listed = this.lists.get(kind) ?? []
    this.lists.set(kind, listed)
    if (typeof value !== "string" || listed.includes(value)) return
    this.values.set(`<${kind} ${listed.push(value)}>`, value)
    if (value.length > 5) this.known.set(value, `<${kind} ${listed.length}>`)
  }

  nameOf(value: unknown): string {
    const name = typeof value === "string" ? this.known.get(value) : undefined
    return name?.slice(1, -1) ?? String(value)
  }
}

const ofItems = (names: Names, turn: string, items: unknown): void => {
  if (!Array.isArray(items)) return
  for (const item of items)
    names.count(`read ${String(at(item, "type"))} of ${turn}`, at(item, "id"))
}

const ofTurns = (names: Names, request: string, turns: unknown): void => {
  if (!Array.isArray(turns)) return
  for (const turn of turns) {
    names.count(`turn read by ${request}`, at(turn, "id"))
    ofItems(names, names.nameOf(at(turn, "id")), at(turn, "items"))
  }
}

const ofNotification = (names: Names, { method = "", params }: WireMessage): void => {
  const thread = names.nameOf(at(params, "threadId") ?? at(params, "thread", "id"))
  if (method === "thread/started") names.count("other thread", at(params, "thread", "id"))
  const turnId = at(params, "turnId") ?? at(params, "turn", "id")
  names.count(`turn of ${thread}`, turnId)
  const item = at(params, "item")
  names.count(`${String(at(item, "type"))} of ${names.nameOf(turnId)}`, at(item, "id"))
  names.list(`revision of ${thread}`, at(params, "readState", "revision"))
  names.count(`submission of ${thread}`, at(params, "queuedSubmission", "id"))
}

/** The names of the values that one program has chosen. */
export interface Named {
  /** The name of each value. */
  readonly known: ReadonlyMap<string, string>
  /** The value of each name. */
  readonly values: ReadonlyMap<string, string>
}

/** The names of the values that one program has chosen. */
export const namesOf = (sent: ReadonlyArray<Sent>): Named => {
  const names = new Names()
  const answers = sent.flatMap(({ from, message: { id, method, result } }) =>
    method === undefined && result !== undefined ? [[`${from}${String(id)}`, result] as const] : [],
  )
  for (const [id, result] of answers) {
    for (const [name, ...path] of introduced) names.add(`${name} of ${id}`, at(result, ...path))
  }
  for (const { message } of sent) if (message.method !== undefined) ofNotification(names, message)
  for (const [id, result] of answers) {
    ofTurns(names, id, at(result, "thread", "turns"))
    ofTurns(names, id, at(result, "initialTurnsPage", "data"))
    const data = at(result, "data")
    if (Array.isArray(data)) {
      if (data.some((one) => at(one, "items") !== undefined)) ofTurns(names, id, data)
      for (const one of data) {
        if (at(one, "item") !== undefined)
          ofItems(names, names.nameOf(at(one, "turnId")), [at(one, "item")])
      }
    }
    for (const [name, ...path] of cursors) names.add(`${name} of ${id}`, at(result, ...path))
  }
  return names
}

/** The text with every value replaced, inside of JSON strings as well; a value that contains another one first. */
export const replaced = (text: string, values: ReadonlyMap<string, string>): string =>
  [...values]
    .toSorted(([one], [other]) => other.length - one.length)
    .reduce((rest, [value, by]) => {
      const written = JSON.stringify(value).slice(1, -1)
      return rest.replaceAll(written, JSON.stringify(by).slice(1, -1))
    }, text)

/** The recorded values with those of this program of the same name. */
export const translation = (recorded: Named, ours: Named): ReadonlyMap<string, string> =>
  new Map([...recorded.known].map(([value, name]) => [value, ours.values.get(name) ?? value]))
