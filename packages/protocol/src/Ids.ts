/** The ids of the conversation vocabulary. Pure: the random bits and the time come from the caller (L12). */
import * as Schema from "effect/Schema"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** UUIDv7 in lower case. The wire calls it session, conversation or thread id: the same value. */
export const ConversationId = Schema.String.check(
  Schema.makeFilter((s: string) => (uuid.test(s) ? undefined : "expected a UUID")),
).pipe(Schema.brand("ConversationId"))
/** A decoded `ConversationId`. */
export type ConversationId = typeof ConversationId.Type

/** Id of an accepted submission: the `id` of all events that it causes. */
export type SubmissionId = string

/** UTF-16 code units of an id that a client chooses: every event of the turn has it. */
const maxChosenId = 1024

const chosenLength = { message: `expected 1 to ${maxChosenId} characters` }

/** Id that a client chooses for its submission. An empty one would be the same for whatever it sends without an id. */
export const ChosenSubmissionId = Schema.String.check(
  Schema.isMinLength(1, chosenLength),
  Schema.isMaxLength(maxChosenId, chosenLength),
)

/**
 * Formats a UUIDv7 (RFC 9562 section 5.7) from the time and 74 random bits.
 *
 * @param unixMs milliseconds since the epoch, at most 48 bits
 * @param random four integers in [0, 2^32); 74 of their bits are used
 */
export const uuidV7 = (
  unixMs: number,
  random: readonly [number, number, number, number],
): string => {
  const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0").slice(-digits)
  const time = hex(Math.trunc(unixMs), 12)
  const [a, b, c, d] = random
  const version = hex(0x7000 | (a & 0x0fff), 4)
  const variant = hex(0x8000 | (b & 0x3fff), 4)
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${hex(c >>> 16, 4)}${hex(d >>> 0, 8)}`
}

/**
 * Reads a conversation id in any spelling of a UUID: upper case, `urn:uuid:` prefix, braces, no hyphens.
 * Gives the lower-case form, or a text that names the fault; the texts are those of the original
 * (packages/server/test/fixtures/v0.29.0/reply_bad_uuid.jsonl).
 */
export const parseConversationId = (
  text: string,
): { readonly id: ConversationId } | { readonly problem: string } => {
  const bare = text.replace(/^urn:uuid:/i, "").replace(/^\{(.*)\}$/, "$1")
  const bad = bare.search(/[^0-9a-fA-F-]/)
  if (bad !== -1) {
    const found = String.fromCodePoint(bare.codePointAt(bad) ?? 0)
    return {
      problem: `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${found}\` at ${bad + 1}`,
    }
  }
  const lower = bare.toLowerCase()
  if (uuid.test(lower)) return { id: ConversationId.make(lower) }
  const digits = lower.replaceAll("-", "")
  if (digits.length !== 32) {
    return {
      problem: `invalid length: expected length 32 for simple format, found ${digits.length}`,
    }
  }
  if (lower.includes("-")) {
    return { problem: "invalid group length: expected groups of 8, 4, 4, 4 and 12 digits" }
  }
  return {
    id: ConversationId.make(
      [
        digits.slice(0, 8),
        digits.slice(8, 12),
        digits.slice(12, 16),
        digits.slice(16, 20),
        digits.slice(20),
      ].join("-"),
    ),
  }
}
