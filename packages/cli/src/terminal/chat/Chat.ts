/** Runs a chat: opens the conversation, and shows it in the terminal, or as plain text where there is none. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import { Server } from "@colloquy/server/Server"
import * as NodeHistory from "@colloquy/store/node/NodeHistory"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Queue from "effect/Queue"
import { withoutUserAndQuery } from "../../config/Redaction.ts"
import { printable } from "../../demo/Format.ts"
import type { Style } from "../../demo/Style.ts"
import { version } from "../../server/Version.ts"
import { type Output, output, print } from "../Output.ts"
import { fit } from "../Width.ts"
import type { Loaded } from "../WithServices.ts"
import type { ChatOptions } from "./ChatOptions.ts"
import { maxInputs } from "./CallbackOffers.ts"
import * as ChatHistory from "./ChatHistory.ts"
import { ChatSession } from "./ChatSession.ts"
import * as ChatTerminal from "./ChatTerminal.ts"
import type { Input } from "./Input.ts"
import type { Notices } from "./Notices.ts"
import { openChat } from "./OpenChat.ts"
import { PlainChat } from "./plain/PlainChat.ts"
import type { PlainInput } from "./plain/PlainInput.ts"

const isInteractive = ({ isTerminal }: Output): boolean =>
  isTerminal && process.stdin.isTTY && process.env["TERM"] !== "dumb"

const headingOf = (
  { cwd, model, provider, sandboxPolicy }: ConversationSettings,
  { columns, style }: Output,
) => {
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

/** What both forms of a chat work with. */
interface ChatParts {
  readonly conversations: ConversationsView["Service"]
  readonly conversation: Conversation
  readonly history: ChatHistory.ChatHistory
  readonly heading: ReadonlyArray<string>
  readonly first: string | undefined
}

const inTerminal = Effect.fnUntraced(function* (
  { first, heading, ...parts }: ChatParts,
  style: Style,
  notices: Notices,
) {
  const queue = yield* Queue.bounded<Input>(maxInputs)
  const terminal = yield* ChatTerminal.make(queue)
  yield* notices.forward((line) => Queue.offerUnsafe(queue, { _tag: "Notice", line }))
  const chat = new ChatSession({ ...parts, terminal, queue, style }, yield* FiberHandle.make())
  chat.show(heading)
  return { code: yield* chat.run(first), session: chat }
}, Effect.scoped)

const inLines = Effect.fnUntraced(function* ({ first, heading, ...parts }: ChatParts) {
  yield* print(heading)
  const queue = yield* Queue.bounded<PlainInput>(maxInputs)
  const isTyped = process.stdin.isTTY
  const chat = new PlainChat({ ...parts, isTyped }, queue, yield* FiberHandle.make())
  return { code: yield* chat.run(first), session: chat }
}, Effect.scoped)

/** Runs it to its end. Resolves with the exit code. */
export const runChat = Effect.fnUntraced(function* (
  options: ChatOptions,
  loaded: Loaded,
  notices: Notices,
) {
  const shown = output()
  const conversation = yield* openChat(options, loaded)
  const { settings } = yield* conversation.state
  const parts: ChatParts = {
    conversations: (yield* Server).conversations(localPrincipal),
    conversation,
    history: yield* Effect.provide(ChatHistory.make, historyLayer(loaded)),
    heading: headingOf(settings, shown),
    first: options.prompt,
  }
  const { code, session } = isInteractive(shown)
    ? yield* inTerminal(parts, shown.style, notices)
    : yield* inLines(parts)
  if (session.hasSent || options.resume !== undefined) {
    const { id } = session.conversation
    yield* print([shown.style.dim(`Go on with: colloquy sessions resume ${id}`)])
  }
  return code
}, Effect.scoped)
