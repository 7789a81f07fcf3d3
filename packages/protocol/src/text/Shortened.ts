/** Messages of errors as they are sent: texts of a peer that they repeat in part, and several lines as one. Pure. */

/** UTF-16 code units of the message of an error: a client may send a value of any length that the message repeats. */
const maxErrorMessage = 4096

/** The text, or its beginning with an ellipsis where it has more than `max` UTF-16 code units; no half of a character. */
export const shortened = (text: string, max: number): string => {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  const splits = last >= 0xd800 && last < 0xdc00
  return `${text.slice(0, splits ? max - 1 : max)}…`
}

/** The message of an error as it is sent: at most 4,096 UTF-16 code units and an ellipsis. */
export const errorMessage = (message: string): string => shortened(message, maxErrorMessage)

/** The text without its line breaks. */
export const oneLine = (text: string): string =>
  text
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
