/**
 * Prepares requests and responses for a recording: removes secrets, and replaces what differs from run to run by names that
 * are the same in every run. Both sides of a conversation are cleaned by one `Cleaning`, in order, so an id that a response
 * introduces has the same name in the next request.
 */
import { withoutSecretValues } from "@colloquy/tools/environment/SecretValues"
import { Placeholders } from "../Normalized.ts"

/** Stands for a removed secret. */
const secret = "<secret>"

/** Members whose text is always removed, whatever it looks like. */
const secretMember =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|password|passphrase|(?:x-)?api[-_]?key|.*secret.*|(?:access|refresh|id|session|auth)[-_]?token)$/i

/** Members with which a provider names its customer. Within a text, such as the input of a tool, they mean something else. */
const customerMember =
  /^(?:(?:chatgpt[-_])?account[-_]?id|organi[sz]ation(?:[-_]?id)?|project[-_]?id|user(?:[-_]?id)?|safety[-_]identifier)$/i

/** Members that a provider encrypts for itself: useless to anybody else. */
const sealedMember = /^encrypted[-_]content$/

/** Instants as numbers. */
const instantMember = /^created(?:_at)?$|^(?:completed|expires)_at$/

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** Ids of providers: a short kind, then at least eight characters, one of them a digit. */
const providerId =
  /(?<![A-Za-z0-9])(resp|msg|fc|rs|call|ctc|ws|chatcmpl|cmpl|req|gen|toolu|item)[_-](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{8,}/g

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null

/** The value of a text that is a JSON object or array. */
const containerIn = (text: string): object | undefined => {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isContainer(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A string in a value that a stream sends in pieces. */
interface Piece {
  /** Equal for the pieces of one text. */
  readonly of: string
  readonly holder: Record<string, unknown>
  readonly member: string
}

const record = (value: unknown): Record<string, unknown> =>
  isContainer(value) ? (value as Record<string, unknown>) : {}

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The pieces of longer texts that one event of a response carries, on either wire of `models`. */
const piecesOf = (event: unknown): ReadonlyArray<Piece> => {
  const { choices, item_id, output_index, type, ...rest } = record(event)
  const deltas =
    typeof rest["delta"] === "string"
      ? [
          {
            of: [type, item_id, output_index].map(String).join(" "),
            holder: record(event),
            member: "delta",
          },
        ]
      : []
  const chat = list(choices).flatMap((choice, i) => {
    const delta = record(record(choice)["delta"])
    const texts = Object.keys(delta)
      .filter((member) => typeof delta[member] === "string" && member !== "role")
      .map((member) => ({ of: `${i} ${member}`, holder: delta, member }))
    const calls = list(delta["tool_calls"]).map((call) => ({
      of: `${i} call ${String(record(call)["index"])}`,
      holder: record(record(call)["function"]),
      member: "arguments",
    }))
    return [...texts, ...calls.filter(({ holder }) => typeof holder["arguments"] === "string")]
  })
  return [...deltas, ...chat]
}

/** Cleans what one client exchanges. */
export class Cleaning {
  private readonly names = new Placeholders((kind, count) => `${kind}_${count}`)
  private readonly known = new Set<string>()

  /** Removes this text from now on, wherever it occurs. */
  addSecret(text: string): void {
    if (text.length >= 4) this.known.add(text)
  }

  /** A text without secrets and with stable ids. */
  text(text: string): string {
    let rest = text
    for (const known of this.known) rest = rest.replaceAll(known, secret)
    const container = containerIn(rest)
    if (container !== undefined) {
      const clean = JSON.stringify(this.value(container, true))
      // The white space of a text that has nothing to remove is part of it.
      return clean === JSON.stringify(container) ? rest : clean
    }
    return withoutSecretValues(rest, secret)
      .replaceAll(uuid, (id) => this.names.of("id", id.toLowerCase()))
      .replaceAll(providerId, (id: string, kind: string) => this.names.of(kind, id))
  }

  /** A JSON value, likewise. @param isInText it is the content of a text, and not what the provider itself sends */
  value(value: unknown, isInText = false): unknown {
    if (typeof value === "string") return this.text(value)
    if (Array.isArray(value)) return value.map((one) => this.value(one, isInText))
    if (!isContainer(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.member(name, member, isInText)]),
    )
  }

  private member(name: string, member: unknown, isInText: boolean): unknown {
    // In the schema of a tool, such a name has an object.
    if (typeof member === "string") {
      const isSecret = secretMember.test(name) || (!isInText && customerMember.test(name))
      if (isSecret && member !== "") return secret
      if (sealedMember.test(name)) return "<sealed>"
    }
    if (typeof member === "number" && instantMember.test(name)) return 0
    return this.value(member, isInText)
  }

  /** The lines of a response: events as JSON, other lines as text. */
  lines(text: string): ReadonlyArray<string> {
    const lines = text.split("\n").map((line) => {
      const data = line.startsWith("data:") ? containerIn(line.slice(5)) : undefined
      return { line, data }
    })
    this.joinSecretPieces(lines.flatMap(({ data }) => (data === undefined ? [] : [data])))
    return lines.map(({ data, line }) =>
      data === undefined ? this.text(line) : `data: ${JSON.stringify(this.value(data))}`,
    )
  }

  /** A secret may be divided among the pieces of a text: then the first piece gets the whole text, and the others none. */
  private joinSecretPieces(events: ReadonlyArray<object>): void {
    const texts = new Map<string, Array<Piece>>()
    for (const piece of events.flatMap(piecesOf)) {
      texts.set(piece.of, [...(texts.get(piece.of) ?? []), piece])
    }
    for (const pieces of texts.values()) {
      const whole = pieces.map(({ holder, member }) => String(holder[member])).join("")
      const clean = this.text(whole)
      if (!clean.includes(secret)) continue
      for (const [i, { holder, member }] of pieces.entries()) holder[member] = i === 0 ? clean : ""
    }
  }
}
