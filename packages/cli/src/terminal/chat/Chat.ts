/** Runs a chat: opens the conversation, and shows it in the terminal, or as plain text where there is none. */
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { Server } from "@colloquy/server/Server"
import * as NodeHistory from "@colloquy/store/node/NodeHistory"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Queue from "effect/Queue"
import { withoutUserAndQuery } from "../../config/Redaction.ts"
import { printable } from "../../demo/Format.ts"
import { version } from "../../server/Version.ts"
import { type Output, output, print } from "../Output.ts"
import { fit } from "../Width.ts"
import type { Loaded } from "../WithServices.ts"
import type { ChatOptions } from "./ChatOptions.ts"
import * as ChatHistory from "./ChatHistory.ts"
import { ChatSession } from "./ChatSession.ts"
import * as ChatTerminal from "./ChatTerminal.ts"
import type { Input } from "./Input.ts"
import type { Notices } from "./Notices.ts"
import { openChat } from "./OpenChat.ts"
import { PlainChat } from "./PlainChat.ts"
import type { PlainInput } from "./PlainInput.ts"

const isInteractive = ({ isTerminal }: Output): boolean =>
  isTerminal && process.stdin.isTTY && process.env["TERM"] !== "dumb"

const headingOf = ({ startup: { settings } }: Loaded, { columns, style }: Output) => {
  const { cwd, model, provider, sandboxPolicy } = settings
  const where = provider.wire === "offline" ? "built in" : withoutUserAndQuery(provider.baseUrl)
  return [
    style.bold(`Colloquy ${version}`),
    ...[
      `${model} of ${provider.id}, ${where}`,
      `${cwd}, ${sandboxPolicy.mode}`,
      "/help lists the commands",
    ].map((line) => style.dim(fit(`  ${printable(line)}`, columns - 1))),
  ]
}

const historyLayer = ({ environment, startup }: Loaded) =>
  NodeHistory.layer(environment.stateDirectory, {
    persistence:
      ConfigTree.get(startup.source.tree, "history.persistence") === "none" ? "none" : "save-all",
  })

/** Runs it to its end. Resolves with the exit code. */
export const runChat = Effect.fnUntraced(function* (
  options: ChatOptions,
  loaded: Loaded,
  notices: Notices,
) {
  const shown = output()
  const conversations = (yield* Server).conversations(localPrincipal)
  const conversation = yield* openChat(options, loaded)
  const history = yield* Effect.provide(ChatHistory.make, historyLayer(loaded))
  const heading = headingOf(loaded, shown)
  const { code, session } = isInteractive(shown)
    ? yield* Effect.scoped(
        Effect.gen(function* () {
          const queue = yield* Queue.unbounded<Input>()
          const terminal = yield* ChatTerminal.make(queue)
          yield* notices.forward((line) => void Queue.offerUnsafe(queue, { _tag: "Notice", line }))
          const parts = {
            conversations,
            conversation,
            terminal,
            queue,
            history,
            style: shown.style,
          }
          const chat = new ChatSession(parts, yield* FiberHandle.make())
          chat.show(heading)
          return { code: yield* chat.run(options.prompt), session: chat }
        }),
      )
    : yield* Effect.scoped(
        Effect.gen(function* () {
          yield* print(heading)
          const parts = { conversations, conversation, history, isTyped: process.stdin.isTTY }
          const queue = yield* Queue.unbounded<PlainInput>()
          const chat = new PlainChat(parts, queue, yield* FiberHandle.make())
          return { code: yield* chat.run(options.prompt), session: chat }
        }),
      )
  if (session.hasSent || options.resume !== undefined) {
    const { id } = session.conversation
    yield* print([shown.style.dim(`Go on with: colloquy sessions resume ${id}`)])
  }
  return code
}, Effect.scoped)
