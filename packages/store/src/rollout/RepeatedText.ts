/**
 * Long outputs are stored once: a member of an event that repeats another one's text stands as a reference to it.
 * Applies to lines of our own types alone; those of the original keep its shapes. Pure.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"

/** Shorter ones are not worth a reference. In UTF-16 code units. */
const minLength = 64

/** Members that repeat, the one that is kept first. */
const repeated = ["stdout", "stderr", "aggregated_output", "formatted_output"] as const
type Repeated = (typeof repeated)[number]

/** From the member that is left out to the one that has its text. */
type Same = Readonly<Partial<Record<Repeated, Repeated>>>

export interface FoldedEvent {
  readonly msg: unknown
  readonly same?: Same
}

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

/** The message as it was; what makes no sense is left for the schema to refuse. */
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
