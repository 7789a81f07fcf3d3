/** The tool `codex`: a new conversation and its first turn (§1.5). */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationsView } from "../../ConversationsView.ts"
import { type SettingsOverrides, SettingsResolver } from "@colloquy/core/ConversationSettings"
import { requestIdText } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { CodexArguments } from "@colloquy/protocol/mcp/CodexTools"
import * as Effect from "effect/Effect"
import type { InputRequired } from "../RequestContext.ts"
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

/** Of a call that was taken back before its conversation was told anything: nobody knows of it. */
const forgetUnused = (manager: ConversationsView["Service"], { id, state }: Conversation) =>
  state.pipe(
    Effect.flatMap(({ receipts }) =>
      receipts.nextId === 0 && receipts.kept.length === 0 ? manager.remove(id) : Effect.void,
    ),
    Effect.catch(({ message }) => Effect.logDebug(`conversation ${id} stays: ${message}`)),
  )

export const codex = Effect.fnUntraced(function* (
  args: CodexArguments,
  call: ToolCaller,
): Effect.fn.Return<CallToolResult, InputRequired, ConversationsView | SettingsResolver> {
  const manager = yield* ConversationsView
  const resolver = yield* SettingsResolver
  const settings = yield* Effect.result(
    resolver.resolve({ ...overridesOf(args), requiresProvider: true }),
  )
  if (settings._tag === "Failure") return badSettings(settings.failure.message)
  // What was made is run or forgotten: nothing may cut in between.
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.matchEffect(manager.create(settings.success), {
      onFailure: ({ message }) => Effect.succeed(notStarted(message)),
      onSuccess: (conversation) =>
        restore(
          runTurn({
            ...call,
            conversation,
            prompt: args.prompt,
            // The first turn's events carry the request's id, so that a client recognises them by it alone (§1.5 step 4);
            // in a history that was resumed an earlier turn may have that id.
            ...(settings.success.resumePath === undefined
              ? { submissionId: requestIdText(call.requestId) }
              : {}),
            from: 0,
          }),
        ).pipe(Effect.onInterrupt(() => forgetUnused(manager, conversation))),
    }),
  )
})
