/**
 * Port: the tools that a turn can call. `@colloquy/tools` implements it. Without tools every call gets the output that the
 * original program gives for an unknown name, and the turn continues.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type {
  CustomToolCallItem,
  FunctionCallItem,
  LocalShellCallItem,
} from "@colloquy/protocol/ResponseItem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type {
  ApprovalRequest,
  Elicitation,
  ElicitationAnswer,
  ToolApproval,
  UserInputAnswer,
  UserInputRequest,
  Verdict,
} from "./approvals/Approval.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { ToolSpec } from "./ModelClient.ts"
import type { ReplayClass } from "./LogRecord.ts"

/** A tool call of the model. */
export type ToolCall = FunctionCallItem | CustomToolCallItem | LocalShellCallItem

/** What the tools of one turn can use of their conversation. */
export interface ToolContext {
  readonly conversationId: ConversationId
  readonly turnId: string
  readonly settings: ConversationSettings
  /** Emits an event of the turn. Events keep their order and precede the output of the call. */
  readonly emit: (msg: EventMsg) => Effect.Effect<void>
  /**
   * Asks a person whether this may be done, unless the session has approved it already or no listener can answer.
   * Resolves with the verdict and never fails: only `approved` and `approved_for_session` allow anything. Listeners get
   * the request before the wait and the outcome (`approval_resolved`) before this resolves. After `abort` the turn is
   * about to be interrupted. Interrupting the wait withdraws the question. A call has one question at a time: a second
   * one is denied with reason `failed`. After a restart a call that had only asked runs again from its start: the same
   * question is not asked again, and its verdict is returned.
   */
  readonly approve: (request: ApprovalRequest) => Effect.Effect<Verdict>
  /** True when an earlier `approved_for_session` covers the request. Asks no question and emits no event. */
  readonly granted: (request: ApprovalRequest) => Effect.Effect<boolean>
  /** What a person has granted beyond the sandbox policy, and is recorded: for this turn or for the session. */
  readonly permissions: Effect.Effect<FurtherPermissions>
  /**
   * Asks a person the question of a tool server, as `elicitation_request`, and resolves with the answer. Never fails:
   * without a readable answer in time the question is declined, and a form that is too large is declined without a
   * question. Interrupting the wait withdraws the question. An answer allows nothing, and the turn continues.
   */
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
  /**
   * Asks a person the agent's questions, as `request_user_input`, and resolves with the answers. Never fails, and an answer
   * allows nothing. One question per call, as for `approve`; so is what an interruption and a restart do.
   */
  readonly requestInput: (request: UserInputRequest) => Effect.Effect<UserInputAnswer>
  /** True while a listener is attached that can answer `requestInput`. */
  readonly canRequestInput: Effect.Effect<boolean>
}

/** The result of one call, for the model. */
export interface ToolResult {
  /** Text of the output item. */
  readonly output: string
  /** Data URLs. The model gets them as one user message after the outputs of the same response. */
  readonly images?: ReadonlyArray<string>
  /**
   * True: the call was refused before anything was run, changed or asked, and the tool has emitted no event about it, such
   * as for arguments that cannot be decoded. It is then reported as `tool_call_begin` and `tool_call_end`.
   */
  readonly isRefused?: boolean
}

/** The result of a call that is refused without an event: `output` says why. */
export const refusedCall = (output: string): ToolResult => ({ output, isRefused: true })

/** The tools of one turn. */
export interface TurnTools {
  /** Tools offered with the next request, in the order of the request. Evaluated before each request. */
  readonly specs: Effect.Effect<ReadonlyArray<ToolSpec>>
  /** True for a call that changes nothing and asks no question: it may run in parallel with other such calls. */
  readonly isReadOnly: (call: ToolCall) => boolean
  /**
   * What happens to the call when its process ends during it and its turn is resumed. Default: `safe` for a read-only
   * call, `ask` for any other.
   */
  readonly replayOf?: (call: ToolCall) => ReplayClass
  /**
   * The tool of the embedding application or of a tool server that the call is for, and its arguments, as a question about it
   * shows them. Default: undefined, a question shows the call as a command.
   */
  readonly questionOf?: (
    call: ToolCall,
  ) => Omit<ToolApproval, "_tag" | "callId" | "reason"> | undefined
  /**
   * Runs one call. Never fails: errors are part of the output. An interruption stops everything that the call started
   * before it resolves.
   */
  readonly run: (call: ToolCall) => Effect.Effect<ToolResult>
  /**
   * Runs a command of the user in the user's shell, with `exec_command_begin` and `exec_command_end` of source `user_shell`.
   * Like `run` it never fails, and an interruption stops everything that the command started. Without this member the
   * conversation runs no commands of the user.
   */
  readonly runUserCommand?: (command: string, callId: string) => Effect.Effect<ToolResult>
}

/** Tools without state between the calls of a turn. */
export interface SimpleTools {
  /** Tools offered with every request. */
  readonly specs: (settings: ConversationSettings) => ReadonlyArray<ToolSpec>
  /** Runs one call and returns its output, or its result. */
  readonly run: (call: ToolCall, context: ToolContext) => Effect.Effect<string | ToolResult>
  /** Runs a command of the user; absent: the conversation runs none. */
  readonly runUserCommand?: (
    command: string,
    callId: string,
    context: ToolContext,
  ) => Effect.Effect<ToolResult>
}

/** A tool server could not be used, or has refused. `message` is for people. */
export class ToolServerFailed extends Schema.TaggedError<ToolServerFailed>()("ToolServerFailed", {
  message: Schema.String,
}) {}

/** What a tool server offers, as it describes that itself. */
export interface ToolServerContents {
  /** By name. */
  readonly tools: Readonly<Record<string, unknown>>
  readonly resources: ReadonlyArray<unknown>
  readonly resourceTemplates: ReadonlyArray<unknown>
}

/**
 * The tool servers of settings for clients, without a turn and without the model. Each uses the servers that the turns of
 * these settings use, and starts one that does not run, in bounded time. An interrupt cancels the request at the server. A
 * question of the server meanwhile is declined.
 */
export interface DirectToolServers {
  /** Calls a tool of the server with this name. Resolves with the result of MCP; `isError` of it is no failure here. */
  readonly call: (
    settings: ConversationSettings,
    call: {
      readonly server: string
      readonly tool: string
      readonly arguments?: Readonly<Record<string, unknown>>
      /** The member `_meta` of the request. */
      readonly meta?: Readonly<Record<string, unknown>>
    },
  ) => Effect.Effect<Readonly<Record<string, unknown>>, ToolServerFailed>
  /** Reads a resource of that server. Resolves with the result of MCP. */
  readonly read: (
    settings: ConversationSettings,
    of: { readonly server: string; readonly uri: string },
  ) => Effect.Effect<Readonly<Record<string, unknown>>, ToolServerFailed>
  /** What each of these servers offers, without its resources for `toolsOnly`, or why it cannot be used. Never fails. */
  readonly describe: (
    settings: ConversationSettings,
    toolsOnly: boolean,
  ) => Effect.Effect<Readonly<Record<string, Result.Result<ToolServerContents, ToolServerFailed>>>>
}

/** The tools of this process. */
export class ToolRuntime extends Context.Service<
  ToolRuntime,
  {
    /** Opens the tools of one turn. What they hold is released when the turn ends, with the scope. */
    readonly open: (context: ToolContext) => Effect.Effect<TurnTools, never, Scope.Scope>
    /**
     * Tools of the tool servers that these settings name, by qualified name: `tools` of `mcp_list_tools_response`. Starts
     * servers that do not run, in bounded time. Never fails: a server that cannot be used contributes no tools.
     */
    readonly listMcpTools: (
      settings: ConversationSettings,
    ) => Effect.Effect<Readonly<Record<string, unknown>>>
    /**
     * The image file at a path, absolute or relative to the working directory of these settings, as a data URL, or the
     * reason why it cannot be read. Never fails. Without this member the model only gets the path.
     */
    readonly readImage?: (
      path: string,
      settings: ConversationSettings,
    ) => Effect.Effect<{ readonly url: string } | { readonly problem: string }>
    /** The tool servers for clients. Without this member clients use none. */
    readonly toolServers?: DirectToolServers
    /**
     * Whether a tool of this process has that name, offered or not: no tool of a client may have it. Never fails. Without
     * this member no name is taken.
     */
    readonly isTaken?: (name: string) => Effect.Effect<boolean>
  }
>()("@colloquy/core/ToolRuntime") {
  /** A runtime of such tools. Calls run one at a time, in the order of the model. */
  static readonly simple = ({
    run,
    runUserCommand,
    specs,
  }: SimpleTools): ToolRuntime["Service"] => ({
    open: (context) =>
      Effect.succeed({
        specs: Effect.sync(() => specs(context.settings)),
        isReadOnly: () => false,
        run: (call) =>
          Effect.map(run(call, context), (result) =>
            typeof result === "string" ? { output: result } : result,
          ),
        ...(runUserCommand === undefined
          ? {}
          : {
              runUserCommand: (command: string, callId: string) =>
                runUserCommand(command, callId, context),
            }),
      }),
    listMcpTools: () => Effect.succeed({}),
  })

  /** No tools at all. */
  static readonly layerNone = Layer.succeed(
    this,
    this.simple({
      specs: () => [],
      run: (call) => Effect.succeed(refusedCall(unsupportedCall(call))),
    }),
  )
}

/** The output for a call of an unknown tool, in the words of the original program. */
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
