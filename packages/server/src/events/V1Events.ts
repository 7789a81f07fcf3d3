/** Which of a conversation's events a listener of this dialect is told, and in which shape. Pure. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { withFlatUsage } from "./McpEvents.ts"

export interface EventFormat {
  /** `experimentalRawEvents`. */
  readonly raw: boolean
  /** It named the last event it has: it is no client of the original, and takes events that those do not know. */
  readonly all: boolean
}

/** What the original never sent live: its clients would show a message twice, or choke on what they do not know. */
const isOurs = ({ type }: EventMsg): boolean =>
  type === "session_configured" ||
  type === "user_message" ||
  type === "approval_resolved" ||
  type === "elicitation_request" ||
  type === "compacted"

/** Undefined for what the listener is not told. */
export const appServerEvent = (msg: EventMsg, wants: EventFormat): EventMsg | undefined => {
  if (msg.type === "raw_response_item" ? !wants.raw : isOurs(msg) && !wants.all) return undefined
  return withFlatUsage(msg)
}
