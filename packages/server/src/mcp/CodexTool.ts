/** The tool `codex`: a new conversation and its first turn (§1.5). */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { type SettingsOverrides, SettingsResolver } from "@colloquy/core/ConversationSettings"
import { requestIdText } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { CodexArguments } from "@colloquy/protocol/mcp/CodexTools"
import * as Effect from "effect/Effect"
import { badSettings, notStarted } from "./ToolResults.ts"
import { runTurn, type ToolCaller } from "./TurnCall.ts"

/** The wire's names on the left, the core's on the right. */
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

export const codex = Effect.fnUntraced(function* (
  args: CodexArguments,
  call: ToolCaller,
): Effect.fn.Return<CallToolResult, never, ConversationManager | SettingsResolver> {
  const manager = yield* ConversationManager
  const resolver = yield* SettingsResolver
  const settings = yield* Effect.result(resolver.resolve(overridesOf(args)))
  if (settings._tag === "Failure") return badSettings(settings.failure.message)
  const conversation = yield* Effect.result(manager.create(settings.success))
  if (conversation._tag === "Failure") return notStarted(conversation.failure.message)
  return yield* runTurn({
    ...call,
    conversation: conversation.success,
    prompt: args.prompt,
    // The first turn's events carry the request's id, so that a client can tell them by it alone (§1.5 step 4).
    submissionId: requestIdText(call.requestId),
    from: 0,
  })
})
