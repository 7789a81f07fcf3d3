/**
 * The history after a summary: the initial context, one "bridge" message with the earlier user messages and the summary,
 * and, after a summary in the middle of a turn, the user messages since the last answer. Pure; `History` folds with it, so
 * every load of a log gives the same history.
 */
import type { MessageItem, ResponseItem } from "@colloquy/protocol/ResponseItem"
import { commandTag } from "./CommandMessage.ts"
import { refusedImage } from "./RefusedImages.ts"

/** Most UTF-8 bytes of the user messages in the bridge. The middle of a longer text is left out. */
export const maxBridgeBytes = 80_000

/** The last message of the request for a summary, as in the original program. */
export const triggerText = "Start Summarization"

/** The summary when the model sent no text. */
const noSummary = "(no summary available)"

/** The user messages when there were none. */
const nothingSaid = "(none)"

/** The text of a user message, without images and what replaces them. */
const textOf = ({ content }: MessageItem): string =>
  content
    .flatMap((part) => (part.type === "input_image" || part === refusedImage ? [] : [part.text]))
    .join("\n")

const isOfUser = (item: ResponseItem): item is MessageItem =>
  item.type === "message" && item.role === "user"

const startsWith = (item: ResponseItem, tag: string): boolean =>
  isOfUser(item) && textOf(item).startsWith(tag)

/** Tags of the user messages that Colloquy adds for the model. */
const prefixes = ["<user_instructions>", "<environment_context>"] as const

const isPrefix = (item: ResponseItem): boolean => prefixes.some((tag) => startsWith(item, tag))

/** The latest AGENTS.md text and environment context, in the order in which a conversation begins with them. */
const initialContext = (items: ReadonlyArray<ResponseItem>): ReadonlyArray<ResponseItem> =>
  prefixes.flatMap((tag) => items.findLast((item) => startsWith(item, tag)) ?? [])

/** Index of the first item after the last answer of the model. */
export const unansweredFrom = (items: ReadonlyArray<ResponseItem>): number =>
  items.findLastIndex((item) => !isOfUser(item)) + 1

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** True for the second and later bytes of a character. */
const isWithin = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** The text in at most `maxBytes` UTF-8 bytes, cut between characters, with a line in the middle that counts the missing bytes. */
export const withoutMiddle = (text: string, maxBytes: number): string => {
  const bytes = encoder.encode(text)
  if (bytes.length <= maxBytes) return text
  const marker = (missing: number) => `\n[… ${missing} bytes left out …]\n`
  const room = Math.max(0, maxBytes - encoder.encode(marker(bytes.length)).length)
  let head = Math.ceil(room / 2)
  while (head > 0 && isWithin(bytes[head])) head--
  let tail = bytes.length - (room - head)
  while (isWithin(bytes[tail])) tail++
  return (
    decoder.decode(bytes.subarray(0, head)) +
    marker(tail - head) +
    decoder.decode(bytes.subarray(tail))
  )
}

/** The message that replaces everything before it. */
const bridge = (said: ReadonlyArray<string>, summary: string): MessageItem => ({
  type: "message",
  role: "user",
  content: [
    {
      type: "input_text",
      text: [
        "The conversation up to here was replaced by this message, to make room.",
        "What I said in it, oldest first:",
        said.length === 0 ? nothingSaid : withoutMiddle(said.join("\n\n"), maxBridgeBytes),
        "Your own summary of it:",
        summary === "" ? noSummary : summary,
      ].join("\n\n"),
    },
  ],
})

/** What a later summary of the same log needs of an earlier one. */
export interface Carried {
  /** The user messages of the replaced part, oldest first. */
  readonly said: ReadonlyArray<string>
  /** The bridge message in the history. */
  readonly bridge: ResponseItem
}

/** The history after a summary, and what the next summary needs of this one. */
export const compacted = (
  items: ReadonlyArray<ResponseItem>,
  carried: Carried | undefined,
  { keepsInput, summary }: { readonly summary: string; readonly keepsInput: boolean },
): { readonly items: ReadonlyArray<ResponseItem>; readonly carried: Carried } => {
  const isNew = (item: ResponseItem) =>
    isOfUser(item) && item !== carried?.bridge && !isPrefix(item)
  // A summary tells of the commands of the user before it: their output is too much to carry.
  const isSaid = (item: ResponseItem) => isNew(item) && !startsWith(item, commandTag)
  const end = keepsInput ? unansweredFrom(items) : items.length
  const said = [
    ...(carried?.said ?? []),
    ...items.slice(0, end).flatMap((item) => {
      const text = isSaid(item) && isOfUser(item) ? textOf(item) : ""
      return text === "" ? [] : [text]
    }),
  ]
  const next = { said, bridge: bridge(said, summary) }
  return {
    items: [...initialContext(items), next.bridge, ...items.slice(end).filter(isNew)],
    carried: next,
  }
}
