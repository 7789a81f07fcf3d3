/** `resumeConversation`: its notification follows the response (L2); the original sends it before. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { GetError } from "@colloquy/core/ConversationManager"
import { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { State } from "@colloquy/core/decider/State"
import { snapshot } from "@colloquy/core/listeners/Listening"
import { eventInfo, type EventMsg } from "@colloquy/protocol/EventMsg"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ResumeConversation } from "@colloquy/protocol/app/Conversations"
import { SessionConfigured } from "@colloquy/protocol/app/Events"
import { type ConversationOverrides, present } from "@colloquy/protocol/app/Fields"
import * as Effect from "effect/Effect"
import { userTurn } from "../../mcp/conversation/Overrides.ts"
import { type AppHandler, stateOf } from "../AppCall.ts"
import { badSettings, cannotSubmit, internal, invalid } from "../AppErrors.ts"
import { conversationResult } from "../ConversationResult.ts"
import { pathFaultOf, pathFaultText, rolloutPathOf } from "../StoredPaths.ts"

const cannotResume = ({ message }: { readonly message: string }, data?: unknown): JsonRpcError =>
  internal(`error resuming conversation: ${message}`, data)

const cannotOpen = (path: string, error: GetError): JsonRpcError => {
  const fault = pathFaultOf("path", path, error)
  return fault === undefined
    ? cannotResume(error)
    : cannotResume({ message: pathFaultText(fault) }, { issues: [fault] })
}

/** True for the events that the original writes to its rollout file and reports again on resume. */
const isReplayed = (msg: EventMsg): boolean =>
  msg.type === "user_message" && (msg.kind ?? "plain") !== "plain"
    ? false
    : eventInfo(msg.type).inRollout

/** Settings that are fixed when a conversation is created. */
const fixed = [
  "includePlanTool",
  "includeApplyPatchTool",
  "developerInstructions",
  "compactPrompt",
] as const

/** Submits the overrides as new settings of the conversation, based on those that it had. */
const override = Effect.fnUntraced(function* (
  conversation: Conversation,
  overrides: ConversationOverrides,
  state: State,
): Effect.fn.Return<void, JsonRpcError, SettingsResolver> {
  const given = present(overrides)
  if (Object.keys(given).length === 0) return
  const wrong = fixed.find((name) => given[name] !== undefined)
  if (wrong !== undefined) {
    return yield* invalid(
      `error deriving config: \`${wrong}\` is settled when a conversation is made`,
    )
  }
  const { approvalPolicy, baseInstructions, config, cwd, model, profile, sandbox } = given
  const wanted = {
    ...(approvalPolicy === undefined ? {} : { approval_policy: approvalPolicy }),
    ...(baseInstructions === undefined ? {} : { base_instructions: baseInstructions }),
    ...(config === undefined ? {} : { config }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    ...(profile === undefined ? {} : { profile }),
    ...(sandbox === undefined ? {} : { sandbox }),
  }
  const op = yield* Effect.mapError(userTurn([], wanted, state), ({ message }) =>
    badSettings({ message: message.replace(/^Failed to load config: /, "") }),
  )
  if (op.type !== "user_turn") return
  const { items: _, final_output_json_schema: __, ...context } = op
  yield* Effect.mapError(
    conversation.submit({ ...context, type: "override_turn_context" }),
    (error) => cannotSubmit(conversation.id, error),
  )
})

/** Handler of the method. */
export const resumeConversation: AppHandler<typeof ResumeConversation> = Effect.fnUntraced(
  function* ({ overrides, path }, { afterAnswer, connection, peer }) {
    const manager = yield* ConversationsView
    const conversation = yield* Effect.mapError(manager.open(path), (error) =>
      cannotOpen(path, error),
    )
    yield* override(conversation, overrides ?? {}, yield* stateOf(conversation))
    const events = yield* Effect.mapError(snapshot(conversation), (error) =>
      cannotResume(error._tag === "Done" ? { message: "the conversation ended" } : error),
    )
    const initialMessages = events.flatMap(({ msg }) => (isReplayed(msg) ? [msg] : []))
    const { seq, settings } = yield* stateOf(conversation)
    connection.cursor.start(conversation.id, seq)
    const made = conversationResult(conversation, settings)
    const resumed = { initialMessages, ...(yield* rolloutPathOf(conversation.id)) }
    const notified = peer.notify(SessionConfigured, [
      {
        sessionId: conversation.id,
        model: settings.model,
        ...(settings.effort === undefined ? {} : { reasoningEffort: settings.effort }),
        historyLogId: 0,
        historyEntryCount: 0,
        ...resumed,
      },
    ])
    afterAnswer(
      Effect.catch(notified, ({ reason }) =>
        Effect.logDebug(`sessionConfigured not sent: ${reason}`),
      ),
    )
    return { ...made, ...resumed }
  },
)
