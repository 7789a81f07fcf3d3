// The dialect codex-mcp. Generated from its definitions: edit those.

export type RawIntegerEncoded = number

export type RefusedImages = {
  readonly skip: number
  readonly count: number
}

export type ErrorEvent = {
  readonly type: "error"
  readonly message: string
  readonly refused_images?: RefusedImages
}

export type TaskStartedEvent = {
  readonly type: "task_started"
  readonly model_context_window: number | null
  readonly user_shell_command?: string
}

export type TaskCompleteEvent = {
  readonly type: "task_complete"
  readonly last_agent_message: string | null
}

export type TokenUsage = {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
  readonly total_tokens: number
}

export type TokenUsageInfo = {
  readonly total_token_usage: TokenUsage
  readonly last_token_usage: TokenUsage
  readonly model_context_window: number | null
}

export type TokenCountEvent = {
  readonly type: "token_count"
  readonly info: TokenUsageInfo | null
  readonly rate_limits?: Readonly<Record<string, unknown>> | null
  readonly input_tokens?: number
  readonly cached_input_tokens?: number
  readonly output_tokens?: number
  readonly reasoning_output_tokens?: number
  readonly total_tokens?: number
}

export type AgentMessageEvent = {
  readonly type: "agent_message"
  readonly message: string
}

export type UserMessageEvent = {
  readonly type: "user_message"
  readonly message: string
  readonly kind?: "plain" | "user_instructions" | "environment_context"
  readonly images?: ReadonlyArray<string>
  readonly client_id?: string
  readonly parts?: ReadonlyArray<{
    readonly type: "text"
    readonly text: string
    readonly elements?: ReadonlyArray<{
      readonly byte_range: {
        readonly start: number
        readonly end: number
      }
      readonly placeholder?: string
    }>
  } | {
    readonly type: "image"
    readonly index: number
    readonly detail?: string
  } | {
    readonly type: "local_image"
    readonly path: string
    readonly detail?: string
  } | {
    readonly type: "skill"
    readonly name: string
    readonly path: string
  } | {
    readonly type: "mention"
    readonly name: string
    readonly path: string
  }>
}

export type AgentMessageDeltaEvent = {
  readonly type: "agent_message_delta"
  readonly delta: string
}

export type AgentReasoningEvent = {
  readonly type: "agent_reasoning"
  readonly text: string
}

export type AgentReasoningDeltaEvent = {
  readonly type: "agent_reasoning_delta"
  readonly delta: string
}

export type AgentReasoningRawContentEvent = {
  readonly type: "agent_reasoning_raw_content"
  readonly text: string
}

export type AgentReasoningRawContentDeltaEvent = {
  readonly type: "agent_reasoning_raw_content_delta"
  readonly delta: string
}

export type AgentReasoningSectionBreakEvent = {
  readonly type: "agent_reasoning_section_break"
}

export type SandboxPolicy = {
  readonly mode: "danger-full-access"
} | {
  readonly mode: "read-only"
} | {
  readonly mode: "workspace-write"
  readonly writable_roots?: ReadonlyArray<string>
  readonly network_access?: boolean
  readonly exclude_tmpdir_env_var?: boolean
  readonly exclude_slash_tmp?: boolean
} | {
  readonly mode: "external-sandbox"
  readonly network_access?: boolean
}

export type SessionConfiguredEvent = {
  readonly type: "session_configured"
  readonly session_id: string
  readonly model: string
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
  readonly history_log_id: number
  readonly history_entry_count: number
  readonly initial_messages?: ReadonlyArray<unknown>
  readonly rollout_path?: string
  readonly thread_id?: string
  readonly model_provider_id?: string
  readonly approval_policy?: "untrusted" | "on-failure" | "on-request" | "never"
  readonly sandbox_policy?: SandboxPolicy
  readonly cwd?: string
}

export type McpToolCallBeginEvent = {
  readonly type: "mcp_tool_call_begin"
  readonly call_id: string
  readonly invocation: {
    readonly server: string
    readonly tool: string
    readonly arguments: unknown
  }
  readonly read_only?: boolean
}

export type McpToolCallEndEvent = {
  readonly type: "mcp_tool_call_end"
  readonly call_id: string
  readonly invocation: {
    readonly server: string
    readonly tool: string
    readonly arguments: unknown
  }
  readonly duration: {
    readonly secs: number
    readonly nanos: number
  }
  readonly result: {
    readonly Ok: unknown
  } | {
    readonly Err: string
  }
}

export type WebSearchBeginEvent = {
  readonly type: "web_search_begin"
  readonly call_id: string
}

export type WebSearchEndEvent = {
  readonly type: "web_search_end"
  readonly call_id: string
  readonly query: string
}

export type ParsedCommand = {
  readonly type: "read"
  readonly cmd: string
  readonly name: string
} | {
  readonly type: "list_files"
  readonly cmd: string
  readonly path: string | null
} | {
  readonly type: "search"
  readonly cmd: string
  readonly query: string | null
  readonly path: string | null
} | {
  readonly type: "unknown"
  readonly cmd: string
}

export type ExecCommandBeginEvent = {
  readonly type: "exec_command_begin"
  readonly call_id: string
  readonly command: ReadonlyArray<string>
  readonly cwd: string
  readonly parsed_cmd?: ReadonlyArray<ParsedCommand>
  readonly source?: string
}

export type ExecCommandOutputDeltaEvent = {
  readonly type: "exec_command_output_delta"
  readonly call_id: string
  readonly stream: "stdout" | "stderr"
  readonly chunk: string
}

export type ExecCommandEndEvent = {
  readonly type: "exec_command_end"
  readonly call_id: string
  readonly stdout: string
  readonly stderr: string
  readonly aggregated_output?: string
  readonly exit_code: number
  readonly duration: {
    readonly secs: number
    readonly nanos: number
  }
  readonly formatted_output?: string
}

export type ExecApprovalRequestEvent = {
  readonly type: "exec_approval_request"
  readonly call_id: string
  readonly command: ReadonlyArray<string>
  readonly cwd: string
  readonly reason?: string
  readonly parsed_cmd?: ReadonlyArray<ParsedCommand>
}

export type FileChange = {
  readonly add: {
    readonly content: string
  }
} | {
  readonly delete: {
    readonly content: string
  }
} | {
  readonly update: {
    readonly unified_diff: string
    readonly move_path: string | null
  }
}

export type ApplyPatchApprovalRequestEvent = {
  readonly type: "apply_patch_approval_request"
  readonly call_id: string
  readonly changes: Readonly<Record<string, FileChange>>
  readonly reason?: string
  readonly grant_root?: string
}

export type BackgroundEventEvent = {
  readonly type: "background_event"
  readonly message: string
}

export type StreamErrorEvent = {
  readonly type: "stream_error"
  readonly message: string
  readonly refused_images?: RefusedImages
}

export type PatchApplyBeginEvent = {
  readonly type: "patch_apply_begin"
  readonly call_id: string
  readonly auto_approved: boolean
  readonly changes: Readonly<Record<string, FileChange>>
}

export type PatchApplyEndEvent = {
  readonly type: "patch_apply_end"
  readonly call_id: string
  readonly stdout: string
  readonly stderr: string
  readonly success: boolean
}

export type TurnDiffEvent = {
  readonly type: "turn_diff"
  readonly unified_diff: string
}

export type GetHistoryEntryResponseEvent = {
  readonly type: "get_history_entry_response"
  readonly offset: number
  readonly log_id: number
  readonly entry?: {
    readonly conversation_id: string
    readonly ts: number
    readonly text: string
  }
}

export type McpListToolsResponseEvent = {
  readonly type: "mcp_list_tools_response"
  readonly tools: Readonly<Record<string, unknown>>
}

export type ListCustomPromptsResponseEvent = {
  readonly type: "list_custom_prompts_response"
  readonly custom_prompts: ReadonlyArray<{
    readonly name: string
    readonly path: string
    readonly content: string
  }>
}

export type PlanItem = {
  readonly step: string
  readonly status: "pending" | "in_progress" | "completed"
}

export type PlanUpdateEvent = {
  readonly type: "plan_update"
  readonly explanation: string | null
  readonly plan: ReadonlyArray<PlanItem>
}

export type TurnAbortedEvent = {
  readonly type: "turn_aborted"
  readonly reason: "interrupted" | "replaced" | "review_ended"
}

export type ShutdownCompleteEvent = {
  readonly type: "shutdown_complete"
}

export type ConversationPathEvent = {
  readonly type: "conversation_path"
  readonly conversation_id: string
  readonly path: string
}

export type EnteredReviewModeEvent = {
  readonly type: "entered_review_mode"
  readonly prompt: string
  readonly user_facing_hint: string
}

export type ExitedReviewModeEvent = {
  readonly type: "exited_review_mode"
  readonly review_output: {
    readonly findings: ReadonlyArray<{
      readonly title: string
      readonly body: string
      readonly confidence_score: number
      readonly priority: number
      readonly code_location: {
        readonly absolute_file_path: string
        readonly line_range: {
          readonly start: number
          readonly end: number
        }
      }
    }>
    readonly overall_correctness: string
    readonly overall_explanation: string
    readonly overall_confidence_score: number
  } | null
}

export type ContentItem = {
  readonly type: "input_text"
  readonly text: string
} | {
  readonly type: "input_image"
  readonly image_url: string
} | {
  readonly type: "output_text"
  readonly text: string
}

export type MessageItem = {
  readonly type: "message"
  readonly role: string
  readonly content: ReadonlyArray<ContentItem>
}

export type ReasoningItem = {
  readonly type: "reasoning"
  readonly summary: ReadonlyArray<{
    readonly type: "summary_text"
    readonly text: string
  }>
  readonly content?: ReadonlyArray<{
    readonly type: "reasoning_text" | "text"
    readonly text: string
  }>
  readonly encrypted_content?: string | null
}

export type FunctionCallItem = {
  readonly type: "function_call"
  readonly name: string
  readonly arguments: string
  readonly call_id: string
}

export type CustomToolCallItem = {
  readonly type: "custom_tool_call"
  readonly call_id: string
  readonly name: string
  readonly input: string
  readonly status?: string
}

export type LocalShellCallItem = {
  readonly type: "local_shell_call"
  readonly call_id?: string | null
  readonly status: string
  readonly action: {
    readonly type: "exec"
    readonly command: ReadonlyArray<string>
  } & Readonly<Record<string, unknown>>
}

export type FunctionCallOutputItem = {
  readonly type: "function_call_output"
  readonly call_id: string
  readonly output: string
}

export type CustomToolCallOutputItem = {
  readonly type: "custom_tool_call_output"
  readonly call_id: string
  readonly output: string
}

export type WebSearchCallItem = {
  readonly type: "web_search_call"
  readonly status?: string
  readonly action?: {
    readonly type: string
  } & Readonly<Record<string, unknown>>
}

export type ResponseItem = MessageItem | ReasoningItem | FunctionCallItem | CustomToolCallItem | LocalShellCallItem | FunctionCallOutputItem | CustomToolCallOutputItem | WebSearchCallItem

export type RawResponseItemEvent = {
  readonly type: "raw_response_item"
  readonly item: ResponseItem
}

export type ViewImageToolCallEvent = {
  readonly type: "view_image_tool_call"
  readonly call_id: string
  readonly path: string
}

export type WarningEvent = {
  readonly type: "warning"
  readonly message: string
}

export type ApprovalResolvedEvent = {
  readonly type: "approval_resolved"
  readonly call_id: string
  readonly decision: "approved" | "approved_for_session" | "denied" | "abort"
  readonly reason: "answered" | "granted" | "expired" | "withdrawn" | "unattended" | "malformed" | "failed" | "shutdown"
  readonly grant?: string
  readonly permissions?: {
    readonly network?: boolean
    readonly read?: ReadonlyArray<string>
    readonly write?: ReadonlyArray<string>
  }
}

export type ElicitationRequestEvent = {
  readonly type: "elicitation_request"
  readonly server_name: string
  readonly id: string
  readonly message: string
  readonly requested_schema: Readonly<Record<string, unknown>>
}

export type CompactedEvent = {
  readonly type: "compacted"
  readonly message: string
  readonly keeps_input?: boolean
}

export type ThreadRolledBackEvent = {
  readonly type: "thread_rolled_back"
  readonly num_turns: number
  readonly turn_id?: string
}

export type ToolCallBeginEvent = {
  readonly type: "tool_call_begin"
  readonly call_id: string
  readonly tool: string
  readonly namespace?: string
  readonly arguments: unknown
}

export type ToolOutputPart = {
  readonly type: "input_text"
  readonly text: string
} | {
  readonly type: "input_image"
  readonly image_url: string
}

export type ToolCallEndEvent = {
  readonly type: "tool_call_end"
  readonly call_id: string
  readonly tool: string
  readonly namespace?: string
  readonly duration: {
    readonly secs: number
    readonly nanos: number
  }
  readonly content?: ReadonlyArray<ToolOutputPart>
  readonly result: {
    readonly Ok: unknown
  } | {
    readonly Err: string
  }
}

export type ToolApprovalRequestEvent = {
  readonly type: "tool_approval_request"
  readonly call_id: string
  readonly tool: string
  readonly server?: string
  readonly arguments: unknown
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly reason?: string
}

export type QueueChangedEvent = {
  readonly type: "queue_changed"
  readonly ids: ReadonlyArray<string>
}

export type ClientToolCallEvent = {
  readonly type: "client_tool_call"
  readonly call_id: string
  readonly tool: string
  readonly namespace?: string
  readonly arguments: unknown
}

export type RequestUserInputEvent = {
  readonly type: "request_user_input"
  readonly call_id: string
  readonly questions: ReadonlyArray<{
    readonly id: string
    readonly header: string
    readonly question: string
    readonly is_other: boolean
    readonly is_secret: boolean
    readonly options: ReadonlyArray<{
      readonly label: string
      readonly description: string
    }> | null
  }>
}

export type ReadMarkedEvent = {
  readonly type: "read_marked"
  readonly read: boolean
}

export type RequestPermissionsEvent = {
  readonly type: "request_permissions"
  readonly call_id: string
  readonly permissions: {
    readonly network?: boolean
    readonly read?: ReadonlyArray<string>
    readonly write?: ReadonlyArray<string>
  }
  readonly cwd: string
  readonly reason?: string
  readonly justification?: string
}

export type McpToolCallProgressEvent = {
  readonly type: "mcp_tool_call_progress"
  readonly call_id: string
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export type EventMsg = ErrorEvent | TaskStartedEvent | TaskCompleteEvent | TokenCountEvent | AgentMessageEvent | UserMessageEvent | AgentMessageDeltaEvent | AgentReasoningEvent | AgentReasoningDeltaEvent | AgentReasoningRawContentEvent | AgentReasoningRawContentDeltaEvent | AgentReasoningSectionBreakEvent | SessionConfiguredEvent | McpToolCallBeginEvent | McpToolCallEndEvent | WebSearchBeginEvent | WebSearchEndEvent | ExecCommandBeginEvent | ExecCommandOutputDeltaEvent | ExecCommandEndEvent | ExecApprovalRequestEvent | ApplyPatchApprovalRequestEvent | BackgroundEventEvent | StreamErrorEvent | PatchApplyBeginEvent | PatchApplyEndEvent | TurnDiffEvent | GetHistoryEntryResponseEvent | McpListToolsResponseEvent | ListCustomPromptsResponseEvent | PlanUpdateEvent | TurnAbortedEvent | ShutdownCompleteEvent | ConversationPathEvent | EnteredReviewModeEvent | ExitedReviewModeEvent | RawResponseItemEvent | ViewImageToolCallEvent | WarningEvent | ApprovalResolvedEvent | ElicitationRequestEvent | CompactedEvent | ThreadRolledBackEvent | ToolCallBeginEvent | ToolCallEndEvent | ToolApprovalRequestEvent | QueueChangedEvent | ClientToolCallEvent | RequestUserInputEvent | ReadMarkedEvent | RequestPermissionsEvent | McpToolCallProgressEvent

export type CodexArguments = {
  /** When a person is asked first. `untrusted`: before every command that is not known to be harmless; `on-failure`: after a command failed in the sandbox; `on-request`: when the agent wants to leave the sandbox; `never`: not at all. */
  readonly "approval-policy"?: "untrusted" | "on-failure" | "on-request" | "never"
  /** Replaces the system instructions of the agent. */
  readonly "base-instructions"?: string
  /** Replaces the instructions for summarizing a long conversation. */
  readonly "compact-prompt"?: string
  /** Settings that override config.toml, by key or dotted path. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Working directory of the agent. A relative path starts at the directory of the server. */
  readonly cwd?: string
  /** Instructions in addition to the system instructions. */
  readonly "developer-instructions"?: string
  /** Whether the agent may maintain a visible plan. */
  readonly "include-plan-tool"?: boolean
  /** Name of the model at its provider. */
  readonly model?: string
  /** Profile in config.toml. */
  readonly profile?: string
  /** First message to the agent. */
  readonly prompt: string
  /** What commands may change: `read-only`: nothing; `workspace-write`: files below the working directory; `danger-full-access`: everything. */
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access"
}

export type CodexReplyArguments = {
  /** Older name of `threadId`. */
  readonly conversationId?: string
  /** Next message to the agent. */
  readonly prompt: string
  /** Oldest name of `threadId`. */
  readonly sessionId?: string
  /** `threadId` of an earlier result. Default: the conversation that this connection used last. */
  readonly threadId?: string
  /** If a turn of the conversation is running: `wait` for its end (default), `steer` or `queue` the message into it and return its result, `interrupt` it, or `reject` the message. Without a running turn `steer` is an error. */
  readonly "while-running"?: "wait" | "steer" | "queue" | "interrupt" | "reject"
}

export type ConversationCreateArguments = {
  /** Ignored, as in the original: send messages with `conversationSendMessage`. */
  readonly prompt?: string
  /** Name of the model at its provider. */
  readonly model?: string
  /** Working directory of the agent. */
  readonly cwd?: string
  /** When a person is asked first. */
  readonly approval_policy?: "untrusted" | "on-failure" | "on-request" | "never"
  /** What commands may change. */
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access"
  /** Settings that override config.toml, by key or dotted path. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Profile in config.toml. */
  readonly profile?: string
  /** Replaces the system instructions of the agent. */
  readonly base_instructions?: string
}

export type ConversationSendMessageArguments = {
  /** Id of the conversation: `threadId` of a result of `codex`. */
  readonly conversation_id: string
  /** At least one text or image. */
  readonly content: ReadonlyArray<{
    readonly type: "text"
    readonly text: string
    readonly elements?: ReadonlyArray<{
      readonly byte_range: {
        readonly start: number
        readonly end: number
      }
      readonly placeholder?: string
    }>
    readonly shown?: {
      readonly type: "local_image"
      readonly path: string
      readonly detail?: string
    } | {
      readonly type: "skill"
      readonly name: string
      readonly path: string
    } | {
      readonly type: "mention"
      readonly name: string
      readonly path: string
    }
  } | {
    readonly type: "image"
    readonly image_url: string
    readonly detail?: string
    readonly shown?: {
      readonly type: "local_image"
      readonly path: string
      readonly detail?: string
    } | {
      readonly type: "skill"
      readonly name: string
      readonly path: string
    } | {
      readonly type: "mention"
      readonly name: string
      readonly path: string
    }
  } | {
    readonly type: "local_image"
    readonly path: string
    readonly detail?: string
  }>
  /** `message_id` of the message that this one follows. If later messages exist, this one goes to a new fork, which the result names. */
  readonly parent_message_id?: string
  /** Name of the model at its provider. */
  readonly model?: string
  /** Working directory of the agent. */
  readonly cwd?: string
  /** When a person is asked first. */
  readonly approval_policy?: "untrusted" | "on-failure" | "on-request" | "never"
  /** What commands may change. */
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access"
  /** Settings that override config.toml, by key or dotted path. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Profile in config.toml. */
  readonly profile?: string
  /** Replaces the system instructions of the agent. */
  readonly base_instructions?: string
  /** If a turn is running: `queue` the message into it (default), `wait` for its end (default with settings, which apply from then on), `steer` it, which is an error without a running turn, `interrupt` it, or `reject` the message. */
  readonly while_running?: "queue" | "wait" | "steer" | "interrupt" | "reject"
}

export type ConversationStreamArguments = {
  /** Id of the conversation: `threadId` of a result of `codex`. */
  readonly conversation_id: string
  /** True: return when the stream has ended, for clients that can only cancel open calls. Default false. */
  readonly hold?: boolean
}

export type ConversationsListArguments = {
  /** Size of a page. Default 25, at most 100. */
  readonly limit?: number
  /** `next_cursor` of an earlier page. */
  readonly cursor?: string
}

export type ConversationInterruptArguments = {
  /** Id of the conversation: `threadId` of a result of `codex`. */
  readonly conversation_id: string
}

export type ConversationStatusArguments = {
  /** Id of the conversation: `threadId` of a result of `codex`. */
  readonly conversation_id: string
}

export type ConversationWaitArguments = {
  /** Id of the conversation: `threadId` of a result of `codex`. */
  readonly conversation_id: string
  /** Timeout in milliseconds. Default 30000, at most 600000. */
  readonly timeout_ms?: number
}

export type ConversationForkArguments = {
  /** Id of the conversation: `threadId` of a result of `codex`. */
  readonly conversation_id: string
  /** Number of last user messages to leave out, with all that followed. Default 0. */
  readonly drop_last_messages?: number
  /** Instead: index of the user message before which the fork ends, from 0. */
  readonly before_message?: number
}

export type ConversationRemoveArguments = {
  /** Id of the conversation: `threadId` of a result of `codex`. */
  readonly conversation_id: string
}

/** Agrees on a protocol revision and on capabilities. Sent once per connection. */
export type InitializeParams = {
  readonly protocolVersion: string
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly clientInfo: {
    readonly name: string
    readonly title?: string
    readonly version: string
  }
}

export type InitializeResult = {
  readonly protocolVersion: string
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly serverInfo: {
    readonly name: string
    readonly title?: string
    readonly version: string
  }
  readonly instructions?: string
}

/** Reports the revisions and capabilities of the server. May be sent at any time. */
export type ServerDiscoverParams = {
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type ServerDiscoverResult = {
  readonly supportedVersions: ReadonlyArray<string>
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type PingResult = Readonly<Record<string, unknown>>

/** Lists the tools, in pages. */
export type ToolsListParams = {
  readonly cursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type ToolsListResult = {
  readonly tools: ReadonlyArray<{
    readonly name: string
    readonly title?: string
    readonly description?: string
    readonly inputSchema: Readonly<Record<string, unknown>>
    readonly outputSchema?: Readonly<Record<string, unknown>>
    readonly annotations?: Readonly<Record<string, unknown>>
    readonly icons?: ReadonlyArray<Readonly<Record<string, unknown>>>
    readonly _meta?: Readonly<Record<string, unknown>>
    readonly execution?: Readonly<Record<string, unknown>>
  }>
  readonly nextCursor?: string
}

/** Calls a tool. Responds when the call has ended. */
export type ToolsCallParams = {
  readonly name: string
  readonly arguments?: unknown
  readonly task?: unknown
  readonly _meta?: ({
    readonly progressToken?: string | number | RawIntegerEncoded | null
  }) & Readonly<Record<string, unknown>>
}

export type ToolsCallResult = {
  readonly content: ReadonlyArray<{
    readonly type: "text"
    readonly text: string
    readonly annotations?: Readonly<Record<string, unknown>>
    readonly _meta?: Readonly<Record<string, unknown>>
  } | {
    readonly type: string
  } & Readonly<Record<string, unknown>>>
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Reports the status of a task; from 2026-07-28 on with its result, its error or its questions. */
export type TasksGetParams = {
  readonly taskId: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type TasksGetResult = {
  readonly taskId: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttl: number | null
  readonly pollInterval?: number
  readonly _meta?: Readonly<Record<string, unknown>>
} | {
  readonly taskId: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number | null
  readonly pollIntervalMs?: number
  readonly _meta?: Readonly<Record<string, unknown>>
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: Readonly<Record<string, unknown>>
}

/** Waits for the end of a task and responds with the result of its call. Questions of the task are sent meanwhile. */
export type TasksResultParams = {
  readonly taskId: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type TasksResultResult = Readonly<Record<string, unknown>>

/** Lists the tasks of the client, oldest first. */
export type TasksListParams = {
  readonly cursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type TasksListResult = {
  readonly tasks: ReadonlyArray<{
    readonly taskId: string
    readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
    readonly statusMessage?: string
    readonly createdAt: string
    readonly lastUpdatedAt: string
    readonly ttl: number | null
    readonly pollInterval?: number
    readonly _meta?: Readonly<Record<string, unknown>>
  }>
  readonly nextCursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Cancels a task. */
export type TasksCancelParams = {
  readonly taskId: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type TasksCancelResult = {
  readonly taskId: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttl: number | null
  readonly pollInterval?: number
  readonly _meta?: Readonly<Record<string, unknown>>
} | {
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Answers some or all questions of a task. */
export type TasksUpdateParams = {
  readonly taskId: string
  readonly _meta?: Readonly<Record<string, unknown>>
  readonly inputResponses: Readonly<Record<string, unknown>>
}

export type TasksUpdateResult = {
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Lists the resources, in pages. */
export type ResourcesListParams = {
  readonly cursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type ResourcesListResult = {
  readonly resources: ReadonlyArray<{
    readonly uri: string
    readonly name: string
    readonly title?: string
    readonly description?: string
    readonly mimeType?: string
  } & Readonly<Record<string, unknown>>>
  readonly nextCursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Lists the URI templates of resources, in pages. */
export type ResourcesTemplatesListParams = {
  readonly cursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type ResourcesTemplatesListResult = {
  readonly resourceTemplates: ReadonlyArray<{
    readonly uriTemplate: string
    readonly name: string
    readonly title?: string
    readonly description?: string
    readonly mimeType?: string
  } & Readonly<Record<string, unknown>>>
  readonly nextCursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Reads the current contents of a resource. */
export type ResourcesReadParams = {
  readonly uri: string
  readonly _meta?: Readonly<Record<string, unknown>>
} & Readonly<Record<string, unknown>>

export type ResourcesReadResult = {
  readonly contents: ReadonlyArray<{
    readonly uri: string
    readonly mimeType?: string
    readonly _meta?: Readonly<Record<string, unknown>>
    readonly text: string
  } | {
    readonly uri: string
    readonly mimeType?: string
    readonly _meta?: Readonly<Record<string, unknown>>
    readonly blob: string
  }>
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Subscribes to updates of a resource. */
export type ResourcesSubscribeParams = {
  readonly uri: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type ResourcesSubscribeResult = Readonly<Record<string, unknown>>

/** Ends the subscription to a resource. */
export type ResourcesUnsubscribeParams = {
  readonly uri: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type ResourcesUnsubscribeResult = Readonly<Record<string, unknown>>

/** Lists the prompts, in pages. */
export type PromptsListParams = {
  readonly cursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type PromptsListResult = {
  readonly prompts: ReadonlyArray<{
    readonly name: string
    readonly title?: string
    readonly description?: string
    readonly arguments?: ReadonlyArray<{
      readonly name: string
      readonly title?: string
      readonly description?: string
      readonly required?: boolean
    }>
  } & Readonly<Record<string, unknown>>>
  readonly nextCursor?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Makes the messages of a prompt from its arguments. */
export type PromptsGetParams = {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>>
  readonly _meta?: Readonly<Record<string, unknown>>
} & Readonly<Record<string, unknown>>

export type PromptsGetResult = {
  readonly description?: string
  readonly messages: ReadonlyArray<{
    readonly role: "user" | "assistant"
    readonly content: {
      readonly type: string
    } & Readonly<Record<string, unknown>>
  }>
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Suggests values for an argument from its beginning. */
export type CompletionCompleteParams = {
  readonly ref: {
    readonly type: "ref/prompt"
    readonly name: string
    readonly title?: string
  } | {
    readonly type: "ref/resource"
    readonly uri: string
  }
  readonly argument: {
    readonly name: string
    readonly value: string
  }
  readonly context?: {
    readonly arguments?: Readonly<Record<string, string>>
  }
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type CompletionCompleteResult = {
  readonly completion: {
    readonly values: ReadonlyArray<string>
    readonly total?: number
    readonly hasMore?: boolean
  }
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Sets the lowest level of log messages that the client receives. */
export type LoggingSetLevelParams = {
  readonly level: "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type LoggingSetLevelResult = Readonly<Record<string, unknown>>

/** Subscribes to changes. The notifications are sent on the stream of this request until the client or the server ends it; the response is the end. */
export type SubscriptionsListenParams = {
  readonly notifications: {
    readonly toolsListChanged?: boolean
    readonly promptsListChanged?: boolean
    readonly resourcesListChanged?: boolean
    readonly resourceSubscriptions?: ReadonlyArray<string>
    readonly taskIds?: ReadonlyArray<string>
  }
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type SubscriptionsListenResult = {
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Cancels a request of the sender: its work stops and no response follows. */
export type NotificationsCancelledParams = {
  readonly requestId: string | number | RawIntegerEncoded
  readonly reason?: string
}

/** An event of the conversation, tied to the tool call that runs it by `_meta.requestId` and sent on the stream of that call, before its response. A client that agreed on a revision by `initialize` gets it unless it declares `capabilities.experimental["codex/event"]: { "enabled": false }`. A request of 2026-07-28 gets it when the client capabilities in its `_meta` declare `extensions["colloquy/codex-event"]: {}` or `experimental["codex/event"]: {}`, and otherwise only from a server with `mcp_events = "always"`; `server/discover` lists the extension while the server sends events. */
export type CodexEventParams = {
  readonly _meta?: {
    readonly requestId?: string | number | RawIntegerEncoded | null
    readonly threadId?: string
    readonly "io.modelcontextprotocol/related-task"?: {
      readonly taskId: string
    }
  }
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
}

/** Asks the person at the client whether a command may run or a patch may be applied. `decline` and `cancel` deny it, and the turn continues; the decision `abort` interrupts the turn. For the form of a tool server, the client's action is passed on. */
export type ElicitationCreateParams = {
  readonly message: string
  readonly requestedSchema?: Readonly<Record<string, unknown>>
  readonly threadId?: string
  readonly codex_elicitation?: string
  readonly codex_mcp_tool_call_id?: string
  readonly codex_event_id?: string
  readonly codex_call_id?: string
  readonly codex_command?: ReadonlyArray<string>
  readonly codex_cwd?: string
  readonly codex_parsed_cmd?: ReadonlyArray<ParsedCommand | Readonly<Record<string, unknown>>>
  readonly codex_changes?: Readonly<Record<string, FileChange | Readonly<Record<string, unknown>>>>
  readonly codex_tool?: string
  readonly codex_arguments?: unknown
  readonly codex_reason?: string
  readonly codex_grant_root?: string
  readonly mode?: string
  readonly url?: string
  readonly elicitationId?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type ElicitationCreateResult = unknown

/** Asks the client's model for a message. */
export type SamplingCreateMessageParams = Readonly<Record<string, unknown>>

export type SamplingCreateMessageResult = Readonly<Record<string, unknown>>

/** Asks for the directories that the client works in. */
export type RootsListParams = {
  readonly _meta?: Readonly<Record<string, unknown>>
}

export type RootsListResult = Readonly<Record<string, unknown>>

/** Reports the progress of a request that gave a progress token. None follows its response. */
export type NotificationsProgressParams = {
  readonly progressToken: string | number | RawIntegerEncoded
  readonly progress: number
  readonly total?: number
  readonly message?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** One line of the server's log, of the level that the client set or a more severe one. */
export type NotificationsMessageParams = {
  readonly level: "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"
  readonly logger?: string
  readonly data: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** The list of tools has changed. */
export type NotificationsToolsListChangedParams = {
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** The lists of resources and templates have changed. */
export type NotificationsResourcesListChangedParams = {
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A resource that the client subscribes to has changed. */
export type NotificationsResourcesUpdatedParams = {
  readonly uri: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** The list of prompts has changed. */
export type NotificationsPromptsListChangedParams = {
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** The first message of a subscription: the part of it that the server supports. */
export type NotificationsSubscriptionsAcknowledgedParams = {
  readonly notifications: {
    readonly toolsListChanged?: boolean
    readonly promptsListChanged?: boolean
    readonly resourcesListChanged?: boolean
    readonly resourceSubscriptions?: ReadonlyArray<string>
    readonly taskIds?: ReadonlyArray<string>
  }
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** All events of a streamed conversation so far. Later events are sent as notifications named after their types. */
export type NotificationsInitialStateParams = {
  readonly _meta?: {
    readonly conversationId?: string
    readonly requestId?: string | number | RawIntegerEncoded
  }
  readonly initial_state: {
    readonly events: ReadonlyArray<{
      readonly msg: EventMsg | {
        readonly type: string
      } & Readonly<Record<string, unknown>>
    }>
  }
}

/** The stream has ended, because another stream replaced it or the conversation ended. */
export type NotificationsStreamDisconnectedParams = {
  readonly _meta?: {
    readonly conversationId?: string
    readonly requestId?: string | number | RawIntegerEncoded
  }
  readonly reason: string
}

/** The status of a task of this connection has changed. */
export type NotificationsTasksStatusParams = {
  readonly taskId: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttl: number | null
  readonly pollInterval?: number
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A task that a `subscriptions/listen` names has changed. It has the form of the result of `tasks/get`. */
export type NotificationsTasksParams = {
  readonly taskId: string
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number | null
  readonly pollIntervalMs?: number
  readonly _meta?: Readonly<Record<string, unknown>>
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: Readonly<Record<string, unknown>>
}

/** Requests that the client sends, by their names on the wire. */
export interface ClientRequests {
  /** Agrees on a protocol revision and on capabilities. Sent once per connection. */
  "initialize": { params: InitializeParams; result: InitializeResult }
  /** Reports the revisions and capabilities of the server. May be sent at any time. */
  "server/discover": { params: ServerDiscoverParams; result: ServerDiscoverResult }
  /** Checks that the peer responds. */
  "ping": { params: undefined; result: PingResult }
  /** Lists the tools, in pages. */
  "tools/list": { params: ToolsListParams; result: ToolsListResult }
  /** Calls a tool. Responds when the call has ended. */
  "tools/call": { params: ToolsCallParams; result: ToolsCallResult }
  /** Reports the status of a task; from 2026-07-28 on with its result, its error or its questions. */
  "tasks/get": { params: TasksGetParams; result: TasksGetResult }
  /** Waits for the end of a task and responds with the result of its call. Questions of the task are sent meanwhile. */
  "tasks/result": { params: TasksResultParams; result: TasksResultResult }
  /** Lists the tasks of the client, oldest first. */
  "tasks/list": { params: TasksListParams; result: TasksListResult }
  /** Cancels a task. */
  "tasks/cancel": { params: TasksCancelParams; result: TasksCancelResult }
  /** Answers some or all questions of a task. */
  "tasks/update": { params: TasksUpdateParams; result: TasksUpdateResult }
  /** Lists the resources, in pages. */
  "resources/list": { params: ResourcesListParams; result: ResourcesListResult }
  /** Lists the URI templates of resources, in pages. */
  "resources/templates/list": { params: ResourcesTemplatesListParams; result: ResourcesTemplatesListResult }
  /** Reads the current contents of a resource. */
  "resources/read": { params: ResourcesReadParams; result: ResourcesReadResult }
  /** Subscribes to updates of a resource. */
  "resources/subscribe": { params: ResourcesSubscribeParams; result: ResourcesSubscribeResult }
  /** Ends the subscription to a resource. */
  "resources/unsubscribe": { params: ResourcesUnsubscribeParams; result: ResourcesUnsubscribeResult }
  /** Lists the prompts, in pages. */
  "prompts/list": { params: PromptsListParams; result: PromptsListResult }
  /** Makes the messages of a prompt from its arguments. */
  "prompts/get": { params: PromptsGetParams; result: PromptsGetResult }
  /** Suggests values for an argument from its beginning. */
  "completion/complete": { params: CompletionCompleteParams; result: CompletionCompleteResult }
  /** Sets the lowest level of log messages that the client receives. */
  "logging/setLevel": { params: LoggingSetLevelParams; result: LoggingSetLevelResult }
  /** Subscribes to changes. The notifications are sent on the stream of this request until the client or the server ends it; the response is the end. */
  "subscriptions/listen": { params: SubscriptionsListenParams; result: SubscriptionsListenResult }
}

/** Notifications that the client sends, by their names on the wire. */
export interface ClientNotifications {
  /** The client has received the response to `initialize`. */
  "notifications/initialized": { params: undefined }
  /** Cancels a request of the sender: its work stops and no response follows. */
  "notifications/cancelled": { params: NotificationsCancelledParams }
}

/** Requests that the server sends, by their names on the wire. */
export interface ServerRequests {
  /** Checks that the peer responds. */
  "ping": { params: undefined; result: PingResult }
  /** Asks the person at the client whether a command may run or a patch may be applied. `decline` and `cancel` deny it, and the turn continues; the decision `abort` interrupts the turn. For the form of a tool server, the client's action is passed on. */
  "elicitation/create": { params: ElicitationCreateParams; result: ElicitationCreateResult }
  /** Asks the client's model for a message. */
  "sampling/createMessage": { params: SamplingCreateMessageParams; result: SamplingCreateMessageResult }
  /** Asks for the directories that the client works in. */
  "roots/list": { params: RootsListParams; result: RootsListResult }
}

/** Notifications that the server sends, by their names on the wire. */
export interface ServerNotifications {
  /** An event of the conversation, tied to the tool call that runs it by `_meta.requestId` and sent on the stream of that call, before its response. A client that agreed on a revision by `initialize` gets it unless it declares `capabilities.experimental["codex/event"]: { "enabled": false }`. A request of 2026-07-28 gets it when the client capabilities in its `_meta` declare `extensions["colloquy/codex-event"]: {}` or `experimental["codex/event"]: {}`, and otherwise only from a server with `mcp_events = "always"`; `server/discover` lists the extension while the server sends events. */
  "codex/event": { params: CodexEventParams }
  /** Reports the progress of a request that gave a progress token. None follows its response. */
  "notifications/progress": { params: NotificationsProgressParams }
  /** One line of the server's log, of the level that the client set or a more severe one. */
  "notifications/message": { params: NotificationsMessageParams }
  /** The list of tools has changed. */
  "notifications/tools/list_changed": { params: NotificationsToolsListChangedParams }
  /** The lists of resources and templates have changed. */
  "notifications/resources/list_changed": { params: NotificationsResourcesListChangedParams }
  /** A resource that the client subscribes to has changed. */
  "notifications/resources/updated": { params: NotificationsResourcesUpdatedParams }
  /** The list of prompts has changed. */
  "notifications/prompts/list_changed": { params: NotificationsPromptsListChangedParams }
  /** The first message of a subscription: the part of it that the server supports. */
  "notifications/subscriptions/acknowledged": { params: NotificationsSubscriptionsAcknowledgedParams }
  /** All events of a streamed conversation so far. Later events are sent as notifications named after their types. */
  "notifications/initial_state": { params: NotificationsInitialStateParams }
  /** The stream has ended, because another stream replaced it or the conversation ended. */
  "notifications/stream_disconnected": { params: NotificationsStreamDisconnectedParams }
  /** The status of a task of this connection has changed. */
  "notifications/tasks/status": { params: NotificationsTasksStatusParams }
  /** A task that a `subscriptions/listen` names has changed. It has the form of the result of `tasks/get`. */
  "notifications/tasks": { params: NotificationsTasksParams }
  /** Cancels a request of the sender: its work stops and no response follows. */
  "notifications/cancelled": { params: NotificationsCancelledParams }
}
