/** How messages of app-server v2 are compared: responses by their request, notifications by their thread, with the place of every response among them. */
import type { Reading } from "./Compare.ts"
import { at, textAt } from "./ThreadNames.ts"
import { read, type WireMessage } from "./Wire.ts"

/** The methods and threads of the requests of one connection, by id as JSON. */
export type Asked = ReadonlyMap<string, { readonly method: string; readonly threadId: unknown }>

const times = new Set([
  "startedAt",
  "completedAt",
  "startedAtMs",
  "completedAtMs",
  "createdAt",
  "updatedAt",
  "recencyAt",
  "durationMs",
  "emittedAtMs",
])

/** Replaces what the clock, the machine and the process decide. */
const neutral = (key: string, value: unknown): unknown => {
  if (typeof value === "number" && times.has(key)) return "<time>"
  if (key === "revision" && typeof value === "string") return "<revision>"
  if (/cursor$/i.test(key) && typeof value === "string") return "<cursor>"
  if (key === "processId" && typeof value === "string" && /^\d+$/.test(value)) return "<process>"
  return value
}

const neutralText = (text: string): string =>
  text
    .replaceAll(/sessions\/(?:\d+\/)*rollout-(?:[\dT-]{20})?/g, "sessions/rollout-")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://provider.test")

/** The message in the form in which both programs are compared. */
export const neutralMessage = (text: string): WireMessage =>
  JSON.parse(JSON.stringify(read(neutralText(text))), neutral) as WireMessage

const deltaKey = ({ method = "", params }: WireMessage): string | undefined =>
  /delta$/i.test(method) && at(params, "itemId") !== undefined
    ? JSON.stringify([method, { ...params, delta: "" }])
    : undefined

/** Pieces of the same text that follow on each other are one. */
const joined = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<WireMessage> => {
  const all: Array<WireMessage> = []
  for (const message of messages) {
    const last = all.at(-1)
    const key = deltaKey(message)
    if (last !== undefined && key !== undefined && deltaKey(last) === key) {
      const delta = `${String(at(last.params, "delta"))}${String(at(message.params, "delta"))}`
      all[all.length - 1] = { ...last, params: { ...last.params, delta } }
    } else all.push(message)
  }
  return all
}

const place = "place of the response to "

const isResponse = ({ method }: WireMessage) => method === undefined

const detail = ({ params }: WireMessage): string => {
  const item = at(params, "item", "type")
  const status = at(params, "status", "type")
  return [item, status].filter((one) => typeof one === "string").join(" ")
}

/** Where a message that is no response belongs. */
const groupOf = ({ params }: WireMessage): string =>
  (textAt(params, "threadId") || textAt(params, "thread", "id") || "connection").replaceAll(
    /[<>]/g,
    "",
  )

/** What makes two messages of a thread the same one. */
const keyOf = (message: WireMessage): string => {
  const { id, method, params } = message
  if (method === undefined) return "response"
  if (method.startsWith(place)) return `${method} ${String(at(params, "id"))}`
  const item = at(params, "item", "id") ?? at(params, "itemId") ?? at(params, "callId")
  const turn = at(params, "turn", "id") ?? at(params, "turnId")
  return JSON.stringify([method, id === undefined, item, turn, detail(message)])
}

/** The reading of the messages of one connection. */
export const readingOf = (asked: Asked): Reading => {
  const placeOf = ({ id, result }: WireMessage): ReadonlyArray<WireMessage> => {
    const request = asked.get(JSON.stringify(id))
    const threadId = at(result, "thread", "id") ?? request?.threadId
    return request === undefined || typeof threadId !== "string"
      ? []
      : [{ method: `${place}${request.method}`, params: { threadId, id: JSON.stringify(id) } }]
  }
  return {
    groups: (messages) => {
      const others = messages.flatMap((message) =>
        isResponse(message) ? placeOf(message) : [message],
      )
      return new Map([
        ...Map.groupBy(messages.filter(isResponse), ({ id }) => JSON.stringify(id)),
        ...[...Map.groupBy(others, groupOf)].map(([group, all]) => [group, joined(all)] as const),
      ])
    },
    keyOf,
    labelOf: (message) =>
      message.method === undefined
        ? `response to ${asked.get(JSON.stringify(message.id))?.method ?? "no request"}`
        : `${message.method} ${detail(message)}`.trim(),
  }
}
