/**
 * Stores a long output once: members of an event that repeat the text of another member are
 * replaced by a reference to it. Applies only to lines of this program's types; lines of the
 * original's types keep its shape. Pure.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"

/** A shorter text is not worth a reference. In UTF-16 code units. */
const minLength = 64

/** The members that repeat one another; the first of them keeps the text. */
const repeated = ["stdout", "stderr", "aggregated_output", "formatted_output"] as const
type Repeated = (typeof repeated)[number]

/** Maps a member that is left out to the member that has its text. */
type Same = Readonly<Partial<Record<Repeated, Repeated>>>

/** An event message without repeated texts. */
export interface FoldedEvent {
  /** The message; members named in `same` are left out. */
  readonly msg: unknown
  /** Absent when nothing is repeated. */
  readonly same?: Same
}

/** Leaves out members that repeat the text of an earlier member. */
export const foldRepeats = (msg: EventMsg): FoldedEvent => {
  if (msg.type !== "exec_command_end") return { msg }
  const same: Partial<Record<Repeated, Repeated>> = {}
  const kept: Record<string, unknown> = { ...msg }
  for (const name of repeated) {
    const text = msg[name]
    if (text === undefined || text.length < minLength) continue
    const first = repeated.find((other) => other !== name && kept[other] === text)
    if (first === undefined || repeated.indexOf(first) > repeated.indexOf(name)) continue
    same[name] = first
    delete kept[name]
  }
  return Object.keys(same).length === 0 ? { msg } : { msg: kept, same }
}

/**
 * Restores the members that `foldRepeats` left out. Invalid references are ignored, so that the
 * schema rejects the message.
 */
export const unfoldRepeats = (msg: unknown, same: unknown): unknown => {
  if (typeof msg !== "object" || msg === null || typeof same !== "object" || same === null) {
    return msg
  }
  const whole: Record<string, unknown> = { ...msg }
  const references = same as Readonly<Record<string, unknown>>
  for (const name of repeated) {
    const first = Object.hasOwn(references, name) ? references[name] : undefined
    if (typeof first === "string" && Object.hasOwn(msg, first)) {
      whole[name] = (msg as Readonly<Record<string, unknown>>)[first]
    }
  }
  return whole
}
