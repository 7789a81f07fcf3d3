/** Carries out the commands that a person types after a slash. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import * as Effect from "effect/Effect"
import { printable } from "../../demo/Format.ts"
import { type TextOptions, unifiedRows } from "../sessions/SessionText.ts"
import { fit } from "../Width.ts"
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
  /** Has the diff of the last turn that changed files. */
  readonly view: { readonly diff: string }
}

/** Goes on in a copy. Resolves with what is said about it. */
const fork = Effect.fnUntraced(function* (
  session: SlashTarget,
  conversations: ConversationsView["Service"],
) {
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

/** Carries one out. */
export const runSlash = Effect.fnUntraced(function* (
  session: SlashTarget,
  conversations: ConversationsView["Service"],
  command: Slash,
) {
  const { options } = session
  const { style } = options
  const say = (text: string) =>
    session.show([style.dim(fit(`  ${printable(text)}`, options.columns))])
  if (command._tag === "Unknown") return say(command.message)
  switch (command.name) {
    case "help":
      return session.show(helpLines.map((line) => (line === "" ? "" : style.dim(`  ${line}`))))
    case "fork":
      return say(yield* fork(session, conversations))
    case "compact":
      yield* session.conversation.submit({ type: "compact" })
      return
    case "model": {
      if (command.argument === "") {
        const { settings } = yield* session.conversation.state
        return say(`model: ${settings.model} of ${settings.provider.id}`)
      }
      yield* session.conversation.submit({
        type: "override_turn_context",
        model: command.argument,
      })
      return say(`model of the next turns: ${command.argument}`)
    }
    case "diff":
      return session.view.diff.trim() === ""
        ? say("no turn has changed a file")
        : session.show(unifiedRows(session.view.diff.trimEnd().split("\n"), options))
    case "quit":
      return session.quit(0)
  }
})
