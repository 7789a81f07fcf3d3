/** The context of a turn's tools in tests: settings, a list of the events sent, and scripted answers. */
import type { ApprovalRequest, Verdict } from "@colloquy/core/approvals/Approval"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ToolCall, ToolContext } from "@colloquy/core/ToolRuntime"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Effect from "effect/Effect"

export const approved: Verdict = { decision: "approved", reason: "answered" }
const denied: Verdict = { decision: "denied", reason: "answered" }

export interface Watched {
  readonly context: ToolContext
  /** Events sent to listeners, in order. */
  readonly events: Array<EventMsg>
  /** The questions that were asked, in order. */
  readonly asked: Array<ApprovalRequest>
}

/** A context that answers every question with the same decision, by default a denial. */
export const watched = (
  settings: Partial<ConversationSettings> = {},
  options: { readonly verdict?: Verdict; readonly granted?: boolean } = {},
): Watched => {
  const events: Array<EventMsg> = []
  const asked: Array<ApprovalRequest> = []
  return {
    events,
    asked,
    context: {
      conversationId: ConversationId.make("00000000-0000-7000-8000-000000000001"),
      turnId: "t",
      settings: scriptedSettings(settings),
      emit: (msg) => Effect.sync(() => void events.push(msg)),
      approve: (request) =>
        Effect.sync(() => {
          asked.push(request)
          return options.verdict ?? denied
        }),
      granted: () => Effect.succeed(options.granted ?? false),
      elicit: () => Effect.succeed({ action: "decline" }),
      permissions: Effect.succeed({}),
      requestInput: () => Effect.succeed({ _tag: "Unanswered", reason: "unattended" }),
      canRequestInput: Effect.succeed(false),
    },
  }
}

/** A tool call as a model sends it; arguments that are not a text are sent as JSON. */
export const callOf = (name: string, args: unknown, call_id = "c"): ToolCall => ({
  type: "function_call",
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
  call_id,
})
