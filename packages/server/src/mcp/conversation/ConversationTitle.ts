/** The title of a conversation: the beginning of its first user message. Pure. */
import type { Event } from "@colloquy/protocol/EventMsg"

/** Longest title in UTF-16 code units. */
const maxTitleLength = 80

/** The text on one line, runs of white space as one space, cut with an ellipsis where it is too long. */
export const titleOf = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, " ")
  return line.length > maxTitleLength ? `${line.slice(0, maxTitleLength - 1)}…` : line
}

/** Whether the event is a message of the user, as forks count them: not one of instructions or of the environment. */
export const isUserMessage = ({ msg }: Event): boolean =>
  msg.type === "user_message" && (msg.kind ?? "plain") === "plain"
