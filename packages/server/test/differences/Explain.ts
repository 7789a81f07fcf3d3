/** Parts of which the predicates `explains` of differences are composed. */
import type { Mismatch } from "../support/Compare.ts"
import { event, type WireMessage } from "../support/Wire.ts"

export type Explains = (mismatch: Mismatch) => boolean

type Text = string | RegExp

const matches = (expected: Text, value: string) =>
  typeof expected === "string" ? value === expected : expected.test(value)

export const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

export const equals = (expected: unknown) => (value: unknown) => same(value, expected)

export const anyOf =
  (...all: ReadonlyArray<Explains>): Explains =>
  (mismatch) =>
    all.some((one) => one(mismatch))

/** A member that only Colloquy sends; with the empty path a whole message. */
export const added =
  (label: Text, path: Text, accept: (ours: unknown) => boolean = () => true): Explains =>
  (m) =>
    m.kind === "added" && matches(label, m.label) && matches(path, m.path) && accept(m.ours)

/** A member that only the original sends; with the empty path a whole message. */
export const missing =
  (label: Text, path: Text, accept: (original: unknown) => boolean = () => true): Explains =>
  (m) =>
    m.kind === "missing" && matches(label, m.label) && matches(path, m.path) && accept(m.original)

export const changed =
  (label: Text, path: Text, accept: (original: unknown, ours: unknown) => boolean): Explains =>
  (m) =>
    m.kind === "changed" &&
    matches(label, m.label) &&
    matches(path, m.path) &&
    accept(m.original, m.ours)

/** Members of `msg` of these events. */
export const eventMembers =
  (kind: "missing" | "added", label: RegExp, ...names: ReadonlyArray<string>): Explains =>
  (m) =>
    m.kind === kind && label.test(m.label) && names.some((name) => m.path === `params.msg.${name}`)

/** A whole response that the original did not send: an error with one of these codes. */
export const errorAdded = (...codes: ReadonlyArray<number>): Explains =>
  added("response", "", (ours) => codes.includes((ours as WireMessage).error?.code ?? 0))

export const msgOf = (message: unknown): Readonly<Record<string, unknown>> =>
  event(message as WireMessage).msg

/** The event belongs to the submission with this id. */
export const isOfSubmission = (id: string) => (message: unknown) =>
  (message as WireMessage).params?.["id"] === id

export const resultText = "result.content.0.text"

export const typeOf = (schema: unknown) => (schema as { readonly type?: unknown }).type
export const isString = (schema: unknown) => typeOf(schema) === "string"

/** A conversation of this recording, or an id that the client chose. */
export const isConversation = (value: unknown) =>
  /^<conversation of .+>$|^[0-9a-f-]{36}$/.test(String(value))

/** The second text of a result, which names the conversation. */
export const isThreadText = (ours: unknown) =>
  /^\{"type":"text","text":"threadId: (<conversation of .+>|[0-9a-f-]{36}) \(pass it to codex-reply to continue this conversation\)","annotations":\{"audience":\["assistant"\]\}\}$/.test(
    JSON.stringify(ours),
  )

/** A content of this text and of that which names the conversation. */
export const isContent = (content: unknown, first: string) =>
  Array.isArray(content) &&
  content.length === 2 &&
  same(content[0], { type: "text", text: first }) &&
  isThreadText(content[1])
