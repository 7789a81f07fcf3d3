/**
 * What the history becomes when it is summarised (§6.9): the initial context, one "bridge" message with what the person
 * said before and the summary, and, where the summary was made in the middle of the work, what was said since the last
 * answer. Pure; `History` folds by it, so every load of a log comes to the same.
 */
import type { MessageItem, ResponseItem } from "@colloquy/protocol/ResponseItem"

/** Of what the person said, in UTF-8 bytes; the middle goes. */
export const maxBridgeBytes = 80_000

/** What asks the model for the summary: the last message of the request (§6.9). */
export const triggerText = "Start Summarization"

/** Where the model said nothing (§6.9). */
const noSummary = "(no summary available)"

const nothingSaid = "(none)"

/** The texts of a message of the user, images left out. */
const textOf = ({ content }: MessageItem): string =>
  content.flatMap((part) => (part.type === "input_image" ? [] : [part.text])).join("\n")

const isOfUser = (item: ResponseItem): item is MessageItem =>
  item.type === "message" && item.role === "user"

const startsWith = (item: ResponseItem, tag: string): boolean =>
  isOfUser(item) && textOf(item).startsWith(tag)

/** Messages in the user's name that no person wrote (§5.2). */
const prefixes = ["<user_instructions>", "<environment_context>"] as const

const isPrefix = (item: ResponseItem): boolean => prefixes.some((tag) => startsWith(item, tag))

/** The person's files and the environment as the model was told of them last, in the order of §6.2. */
const initialContext = (items: ReadonlyArray<ResponseItem>): ReadonlyArray<ResponseItem> =>
  prefixes.flatMap((tag) => items.findLast((item) => startsWith(item, tag)) ?? [])

/** Index of the first item that no answer of the model follows: what was said since. */
export const unansweredFrom = (items: ReadonlyArray<ResponseItem>): number =>
  items.findLastIndex((item) => !isOfUser(item)) + 1

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** True for the second and later bytes of a character. */
const isWithin = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** At most so many UTF-8 bytes, cut between characters; a line in the middle tells how many are missing. */
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

/** The message that stands for everything before it. */
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

/** What earlier summaries of the same log left. */
export interface Carried {
  /** What the person said in the part that is replaced, oldest first. */
  readonly said: ReadonlyArray<string>
  /** Stands in the history for it. */
  readonly bridge: ResponseItem
}

/** The history after a summary, and what the next one has to know. */
export const compacted = (
  items: ReadonlyArray<ResponseItem>,
  carried: Carried | undefined,
  { keepsInput, summary }: { readonly summary: string; readonly keepsInput: boolean },
): { readonly items: ReadonlyArray<ResponseItem>; readonly carried: Carried } => {
  const isSaid = (item: ResponseItem) =>
    isOfUser(item) && item !== carried?.bridge && !isPrefix(item)
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
    items: [...initialContext(items), next.bridge, ...items.slice(end).filter(isSaid)],
    carried: next,
  }
}
