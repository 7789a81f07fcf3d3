/**
 * Port: the tools a turn can call. `@colloquy/tools` implements it; without tools every call gets the output the
 * original gives for a name it does not know, and the turn goes on.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type {
  CustomToolCallItem,
  FunctionCallItem,
  LocalShellCallItem,
} from "@colloquy/protocol/ResponseItem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ApprovalRequest, Verdict } from "./Approval.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { ToolSpec } from "./ModelClient.ts"

export type ToolCall = FunctionCallItem | CustomToolCallItem | LocalShellCallItem

/** Where a call runs. */
export interface ToolContext {
  readonly conversationId: ConversationId
  readonly turnId: string
  readonly settings: ConversationSettings
  /** Tells the conversation's listeners; in order, before the call's output. */
  readonly emit: (msg: EventMsg) => Effect.Effect<void>
  /**
   * Asks a person whether this may be done, unless the session has approved it already or nobody can be asked. Waits
   * for the verdict and never fails: only `approved` and `approved_for_session` allow anything. The request is told to
   * listeners before, the outcome (`approval_resolved`) before this returns. With `abort` the turn is about to be
   * interrupted; interrupted while it waits, it withdraws the question. One question per call at a time: a second
   * one of the same call is denied, reason `failed`.
   */
  readonly approve: (request: ApprovalRequest) => Effect.Effect<Verdict>
}

export class ToolRuntime extends Context.Service<
  ToolRuntime,
  {
    /** The tools offered to the model under these settings, in the order of §6.7. */
    readonly specs: (settings: ConversationSettings) => ReadonlyArray<ToolSpec>
    /**
     * Runs one call and gives the text for the model. Never fails: what goes wrong is told in the text.
     * Interruption stops everything the call started before it returns.
     */
    readonly run: (call: ToolCall, context: ToolContext) => Effect.Effect<string>
  }
>()("@colloquy/core/ToolRuntime") {
  /** No tools at all. */
  static readonly layerNone = Layer.succeed(this, {
    specs: () => [],
    run: (call) => Effect.succeed(unsupportedCall(call)),
  })
}

/** The output for a name nobody knows (§6.7; original-behaviour §4). */
export const unsupportedCall = (call: ToolCall): string => {
  switch (call.type) {
    case "function_call":
      return `unsupported call: ${call.name}`
    case "custom_tool_call":
      return `unsupported custom tool call: ${call.name}`
    case "local_shell_call":
      return "unsupported call: local_shell"
  }
}
