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
import type * as Scope from "effect/Scope"
import type {
  ApprovalRequest,
  Elicitation,
  ElicitationAnswer,
  Verdict,
} from "./approvals/Approval.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { ToolSpec } from "./ModelClient.ts"
import type { ReplayClass } from "./LogRecord.ts"

export type ToolCall = FunctionCallItem | CustomToolCallItem | LocalShellCallItem

/** What the tools of one turn are given. */
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
   * one of the same call is denied, reason `failed`. After a restart a call that had only asked runs again from its
   * start: the same question is not put again, its verdict is given.
   */
  readonly approve: (request: ApprovalRequest) => Effect.Effect<Verdict>
  /** True when an earlier `approved_for_session` covers the request. Asks nobody and tells nobody. */
  readonly granted: (request: ApprovalRequest) => Effect.Effect<boolean>
  /**
   * Puts a tool server's question to a person, as `elicitation_request`, and waits. Never fails: without an answer that
   * can be read, in time, it is declined; what is too large is put to nobody. Interrupted, it withdraws the question.
   * Whatever is answered, it allows nothing and the turn goes on.
   */
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
}

/** What one call leaves for the model. */
export interface ToolResult {
  readonly output: string
  /** Data URLs; put before the model as a message of the user behind the outputs of the same response. */
  readonly images?: ReadonlyArray<string>
}

/** The tools of one turn. */
export interface TurnTools {
  /** Those offered with the next request, in the order of §6.7; asked anew before each. */
  readonly specs: Effect.Effect<ReadonlyArray<ToolSpec>>
  /** True for a call that changes nothing and asks nobody: it may run beside others of its kind. */
  readonly isReadOnly: (call: ToolCall) => boolean
  /**
   * What becomes of the call when its process ends under it and its turn is taken up again. Default: `safe` for a call that
   * is read-only, `ask` for any other.
   */
  readonly replayOf?: (call: ToolCall) => ReplayClass
  /**
   * Runs one call. Never fails: what goes wrong is told to the model. Interruption stops everything the call started
   * before it returns.
   */
  readonly run: (call: ToolCall) => Effect.Effect<ToolResult>
}

/** Tools that keep nothing between the calls of a turn and give texts alone. */
export interface SimpleTools {
  readonly specs: (settings: ConversationSettings) => ReadonlyArray<ToolSpec>
  readonly run: (call: ToolCall, context: ToolContext) => Effect.Effect<string>
}

export class ToolRuntime extends Context.Service<
  ToolRuntime,
  {
    /** Opens the tools for one turn; what they hold ends with the scope, when the turn ends. */
    readonly open: (context: ToolContext) => Effect.Effect<TurnTools, never, Scope.Scope>
    /**
     * `tools` of `mcp_list_tools_response` (§4.5): qualified name to MCP tool, of the servers that these settings name.
     * Starts what does not run, in bounded time. Never fails: a server that cannot be used has no tools here.
     */
    readonly listMcpTools: (
      settings: ConversationSettings,
    ) => Effect.Effect<Readonly<Record<string, unknown>>>
    /**
     * The image file at a path, absolute or from the working directory of these settings, as a data URL, or why it
     * cannot be shown. Never fails. Without it the model is told of the path alone.
     */
    readonly readImage?: (
      path: string,
      settings: ConversationSettings,
    ) => Effect.Effect<{ readonly url: string } | { readonly problem: string }>
  }
>()("@colloquy/core/ToolRuntime") {
  /** Every call runs by itself, in the model's order. */
  static readonly simple = ({ run, specs }: SimpleTools): ToolRuntime["Service"] => ({
    open: (context) =>
      Effect.succeed({
        specs: Effect.sync(() => specs(context.settings)),
        isReadOnly: () => false,
        run: (call) => Effect.map(run(call, context), (output) => ({ output })),
      }),
    listMcpTools: () => Effect.succeed({}),
  })

  /** No tools at all. */
  static readonly layerNone = Layer.succeed(
    this,
    this.simple({ specs: () => [], run: (call) => Effect.succeed(unsupportedCall(call)) }),
  )
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
