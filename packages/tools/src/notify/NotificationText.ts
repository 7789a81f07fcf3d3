/**
 * The JSON text that the program of `notify` gets as its last argument, in the shape of the original 0.153.4. Pure.
 *
 * The system starts no program with an argument of 128 KiB or more, so long texts are shortened, the longest first.
 */
import type { CompletedTurn } from "@colloquy/core/decider/CompletedTurn"

/** Below the limit of Linux for one argument: 131,072 bytes including its terminator. */
export const maxBytes = 120 * 1024

const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`

const jsonOf = (turn: CompletedTurn, maxLength: number): string =>
  JSON.stringify({
    type: "agent-turn-complete",
    "thread-id": turn.conversationId,
    "turn-id": turn.turnId,
    cwd: turn.cwd,
    "input-messages": turn.inputMessages.map((text) => cut(text, maxLength)),
    "last-assistant-message":
      turn.lastAgentMessage === null ? null : cut(turn.lastAgentMessage, maxLength),
  })

const encoder = new TextEncoder()

const fits = (text: string): boolean =>
  text.length <= maxBytes && encoder.encode(text).length <= maxBytes

/** The text for a completed turn, at most `maxBytes` long. */
export const notificationText = (turn: CompletedTurn): string => {
  const whole = jsonOf(turn, Number.POSITIVE_INFINITY)
  if (fits(whole)) return whole
  for (let maxLength = maxBytes / 2; maxLength >= 64; maxLength /= 2) {
    const text = jsonOf(turn, maxLength)
    if (fits(text)) return text
  }
  // Even the beginnings of so many messages are too long: the latest half of them is kept.
  return notificationText({
    ...turn,
    inputMessages: turn.inputMessages.slice(-Math.floor(turn.inputMessages.length / 2)),
  })
}
