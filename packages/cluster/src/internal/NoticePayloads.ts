/**
 * Texts as payloads of notifications, of which PostgreSQL takes fewer than 8,000 bytes each: a longer text is cut into parts,
 * which are joined again where they arrive. The parts of a text arrive one right after the other. Pure.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** UTF-16 code units of a part: each takes at most three bytes, and there is room for the other members. */
const maxUnits = 2500

const Part = Schema.fromJsonString(
  Schema.Struct({
    /** The node that sends it. */
    node: Schema.String,
    /** The text that it belongs to, by its number among those of the node. */
    number: Schema.Int,
    /** Its place among the parts of the text, from 0. */
    index: Schema.Int,
    /** How many parts the text has. */
    of: Schema.Int,
    text: Schema.String,
  }),
)
type Part = typeof Part.Type

const encode = Schema.encodeSync(Part)
const decode = Schema.decodeOption(Part)

/** The payloads of a text. No two texts have the same ones: PostgreSQL would send only one of them. */
export const payloadsOf = (node: string, number: number, text: string): ReadonlyArray<string> => {
  const of = Math.max(1, Math.ceil(text.length / maxUnits))
  return Array.from({ length: of }, (_, index) => {
    const start = index * maxUnits
    return encode({ node, number, index, of, text: text.slice(start, start + maxUnits) })
  })
}

/** A text, and the node that has sent it. */
export interface SentText {
  readonly node: string
  readonly text: string
}

/** Joins the parts in the order in which they arrive. */
export class ArrivingTexts {
  private begun: Part | undefined

  /** Adds a payload. The text that it completes, if any; one without all of its parts never is. */
  add(payload: string): SentText | undefined {
    const part = Option.getOrUndefined(decode(payload))
    const joined = part && this.joined(part)
    const isWhole = joined !== undefined && joined.index === joined.of - 1
    this.begun = isWhole ? undefined : joined
    return isWhole ? { node: joined.node, text: joined.text } : undefined
  }

  private joined(part: Part): Part | undefined {
    if (part.index === 0) return part
    const { begun } = this
    const isNext =
      begun?.node === part.node && begun.number === part.number && begun.index === part.index - 1
    return isNext ? { ...part, text: begun.text + part.text } : undefined
  }
}
