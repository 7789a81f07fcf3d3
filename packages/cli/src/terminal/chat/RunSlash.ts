/** Carries out the commands that a person types after a slash. */
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import * as Effect from "effect/Effect"
import { printable } from "../../demo/Format.ts"
import { unifiedRows } from "../sessions/SessionText.ts"
import { fit } from "../Width.ts"
import type { ChatSession } from "./ChatSession.ts"
import { helpLines, type Slash } from "./SlashCommands.ts"

/** Carries one out. */
export const runSlash = Effect.fnUntraced(function* (
  session: Pick<ChatSession, "conversation" | "change" | "options" | "quit" | "show" | "view">,
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
    case "fork": {
      const rule = { _tag: "DropLastUserMessages", n: 0 } as const
      yield* session.change(yield* conversations.fork(session.conversation.id, rule))
      return say(`this is a copy now: ${session.conversation.id}`)
    }
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
