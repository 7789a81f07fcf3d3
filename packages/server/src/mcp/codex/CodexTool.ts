/** The tool `codex`: begins a conversation and runs its first turn. A call that is cancelled before leaves nothing. */
import { ConversationsView } from "../../ConversationsView.ts"
import { type SettingsOverrides, SettingsResolver } from "@colloquy/core/ConversationSettings"
import { requestIdText } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { CodexArguments } from "@colloquy/protocol/mcp/CodexTools"
import * as Effect from "effect/Effect"
import type { ConnectionState } from "../ConnectionState.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { CallProgress } from "./CallProgress.ts"
import { badSettings, notStarted } from "./ToolResults.ts"
import { runTurn } from "./TurnCall.ts"

/** The names of the arguments, and the settings of the core that they override. */
const names = {
  "approval-policy": "approvalPolicy",
  "base-instructions": "baseInstructions",
  "compact-prompt": "compactPrompt",
  config: "config",
  cwd: "cwd",
  "developer-instructions": "developerInstructions",
  "include-plan-tool": "includePlanTool",
  model: "model",
  profile: "profile",
  sandbox: "sandbox",
} as const satisfies Record<Exclude<keyof CodexArguments, "prompt">, keyof SettingsOverrides>

const overridesOf = ({ prompt: _, ...args }: CodexArguments): SettingsOverrides =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [names[name as keyof typeof names], value]),
  )

/** Resolves with the result of the turn. A failure to start is a result with `isError` in the words of the original. */
export const codex = Effect.fnUntraced(function* (
  args: CodexArguments,
  context: RequestContext,
  connection: ConnectionState,
  progress: CallProgress | undefined,
): Effect.fn.Return<CallToolResult, InputRequired, ConversationsView | SettingsResolver> {
  const conversations = yield* ConversationsView
  const resolver = yield* SettingsResolver
  const settings = yield* Effect.result(
    resolver.resolve({ ...overridesOf(args), requiresProvider: true }),
  )
  if (settings._tag === "Failure") return badSettings(settings.failure.message)
  // The first turn's events carry the request's id, as in the original, and clients recognise them by it. A history that
  // was resumed may have a turn of that id already.
  const submission =
    settings.success.resumePath === undefined
      ? { submissionId: requestIdText(context.requestId) }
      : {}
  return yield* Effect.matchEffect(conversations.createOnSubmit(settings.success), {
    onFailure: ({ message }) => Effect.succeed(notStarted(message)),
    onSuccess: (conversation) =>
      runTurn(connection, context, {
        conversation,
        prompt: args.prompt,
        from: 0,
        isFirst: true,
        progress,
        ...submission,
      }),
  }).pipe(Effect.scoped)
})
