/** Carries out the commands that a person types after a slash. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import * as Effect from "effect/Effect"
import { printable } from "../../demo/Format.ts"
import { type TextOptions, unifiedRows } from "../sessions/SessionText.ts"
import { fit } from "../Width.ts"
import type { ChatState } from "./ChatState.ts"
import { helpLines, type Slash } from "./SlashCommands.ts"

/** The chat that a command is for. */
export interface SlashTarget {
  readonly conversation: Conversation
  /** Goes on with another conversation, of which only new events are shown. */
  readonly change: (conversation: Conversation) => Effect.Effect<void>
  readonly options: TextOptions
  /** Ends the chat. */
  readonly quit: (code: number) => void
  /** Adds rows to what is shown. */
  readonly show: (rows: ReadonlyArray<string>) => void
  /** `diff` is that of the last turn that changed files; `isEmpty` is true where nothing was said yet. */
  readonly view: {
    readonly diff: string
    readonly isEmpty: boolean
    readonly state: Pick<ChatState, "questions" | "sent" | "turn">
  }
}

/**
 * Why the chat cannot go on with another conversation now; undefined where it can. What runs would go on unseen, out of reach
 * of Ctrl-C, and its question would be gone.
 */
const whyNotLeft = Effect.fnUntraced(function* ({ conversation, view }: SlashTarget) {
  const { questions, sent, turn } = view.state
  if (questions.length > 0) return "a question waits: answer it, or interrupt the turn with Ctrl-C"
  // The conversation may be ahead of what is shown.
  const isRunning = turn !== undefined || sent.length > 0
  return isRunning || (yield* conversation.state).turn !== undefined
    ? "a turn is running: wait for its end, or interrupt it with Ctrl-C"
    : undefined
})

/** Goes on in a copy. Resolves with what is said about it. */
const fork = Effect.fnUntraced(function* (
  session: SlashTarget,
  conversations: ConversationsView["Service"],
) {
  const busy = yield* whyNotLeft(session)
  if (busy !== undefined) return `/fork: ${busy}`
  const rule = { _tag: "DropLastUserMessages", n: 0 } as const
  // Nothing is stored of a conversation before its first message.
  const copy = yield* Effect.catchTag(
    conversations.fork(session.conversation.id, rule),
    "NoSuchConversation",
    () => Effect.undefined,
  )
  if (copy === undefined) return "nothing was said yet: there is nothing to copy"
  yield* session.change(copy)
  return `this is a copy now: ${copy.id}`
})

/** Adds one row that is a remark of the chat. */
const say = ({ options, show }: SlashTarget, text: string): void =>
  show([options.style.dim(fit(`  ${printable(text)}`, options.columns))])

/** Summarises the history, after the running turn if there is one. Resolves with the receipt, unless nothing was said yet. */
const compact = Effect.fnUntraced(function* (session: SlashTarget) {
  const { conversation, view } = session
  if (view.isEmpty && (yield* conversation.state).turn === undefined) {
    say(session, "nothing was said yet: there is nothing to summarise")
    return undefined
  }
  // Without `wait` it would join the running turn as a message of the user.
  const receipt = yield* conversation.submit({ type: "compact" }, { whileRunning: "wait" })
  if (receipt.disposition === "waiting") say(session, "/compact waits for the end of the turn")
  return receipt
})

/** Shows the model, or sets it. Resolves with what is said about it. */
const model = Effect.fnUntraced(function* ({ conversation }: SlashTarget, name: string) {
  if (name === "") {
    const { settings } = yield* conversation.state
    return `model: ${settings.model} of ${settings.provider.id}`
  }
  yield* conversation.submit({ type: "override_turn_context", model: name })
  return `model of the next turns: ${name}`
})

/** Carries one out. Resolves with the receipt of the turn that it has requested; undefined where it requests none. */
export const runSlash = Effect.fnUntraced(function* (
  session: SlashTarget,
  conversations: ConversationsView["Service"],
  command: Slash,
) {
  if (command._tag === "Refused") {
    say(session, command.message)
    return undefined
  }
  const { options, view } = session
  switch (command.name) {
    case "compact":
      return yield* compact(session)
    case "help":
      session.show(helpLines.map((line) => (line === "" ? "" : options.style.dim(`  ${line}`))))
      break
    case "fork":
      say(session, yield* fork(session, conversations))
      break
    case "model":
      say(session, yield* model(session, command.argument))
      break
    case "diff":
      if (view.diff.trim() === "") say(session, "no turn has changed a file")
      else session.show(unifiedRows(view.diff.trimEnd().split("\n"), options))
      break
    case "quit":
      session.quit(0)
  }
  return undefined
})
