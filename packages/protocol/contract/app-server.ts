// The dialect app-server. Generated from its definitions: edit those.

export type RawIntegerEncoded = number

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

/** Introduces the client. Must be sent once, before every other request. */
export type InitializeParams = {
  readonly clientInfo: {
    readonly name: string
    readonly title?: string | null
    readonly version: string
  }
  readonly capabilities?: {
    readonly experimentalApi?: boolean | null
    readonly requestAttestation?: boolean | null
    readonly optOutNotificationMethods?: ReadonlyArray<string> | null
    readonly requiredHumanApproval?: unknown
    readonly explicitGatewayOauth?: unknown
    readonly mcpServerOpenaiFormElicitation?: unknown
    readonly extensions?: unknown
    readonly approvals?: "camelCase" | "snake_case" | "none" | null
    readonly elicitation?: boolean | null
  } | null
}

export type InitializeResult = {
  readonly userAgent: string
  readonly codexHome?: string
  readonly platformFamily?: string
  readonly platformOs?: string
}

/** Cancels a request. From the server: the request needs no response any more, because another client answered the question or it was withdrawn. From the client: the request ends and gets the error -32800 as its response, unless its response is already being sent or it cannot be cancelled. An unknown id is ignored. */
export type CancelRequestParams = {
  readonly id: string | number | RawIntegerEncoded
}

export type GetUserAgentResult = {
  readonly userAgent: string
}

/** Creates a conversation. No turn starts yet. */
export type NewConversationParams = {
  readonly model?: string | null
  readonly profile?: string | null
  readonly cwd?: string | null
  readonly approvalPolicy?: "untrusted" | "on-failure" | "on-request" | "never" | null
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access" | null
  readonly config?: Readonly<Record<string, unknown>> | null
  readonly baseInstructions?: string | null
  readonly includePlanTool?: boolean | null
  readonly includeApplyPatchTool?: boolean | null
  readonly developerInstructions?: string | null
  readonly compactPrompt?: string | null
}

export type NewConversationResult = {
  readonly conversationId: string
  readonly model: string
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
  readonly rolloutPath?: string
}

/** Lists the stored conversations that have a user message, newest first, in pages. An invalid cursor is ignored. */
export type ListConversationsParams = {
  readonly pageSize?: number | null
  readonly cursor?: string | null
}

export type ListConversationsResult = {
  readonly items: ReadonlyArray<{
    readonly conversationId: string
    readonly path?: string
    readonly preview: string
    readonly timestamp?: string
  }>
  readonly nextCursor?: string
}

/** Resumes a stored conversation by the path of its rollout file. `overrides` replace single settings of those it had. */
export type ResumeConversationParams = {
  readonly path: string
  readonly overrides?: {
    readonly model?: string | null
    readonly profile?: string | null
    readonly cwd?: string | null
    readonly approvalPolicy?: "untrusted" | "on-failure" | "on-request" | "never" | null
    readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access" | null
    readonly config?: Readonly<Record<string, unknown>> | null
    readonly baseInstructions?: string | null
    readonly includePlanTool?: boolean | null
    readonly includeApplyPatchTool?: boolean | null
    readonly developerInstructions?: string | null
    readonly compactPrompt?: string | null
  } | null
}

export type ResumeConversationResult = {
  readonly conversationId: string
  readonly model: string
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
  readonly initialMessages?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly rolloutPath?: string
}

/** Ends a conversation and moves its rollout file to the archive. */
export type ArchiveConversationParams = {
  readonly conversationId: string
  readonly rolloutPath?: string | null
}

export type ArchiveConversationResult = Readonly<Record<string, unknown>>

/** Creates a conversation from the beginning of another one. A running turn is not copied and continues there. */
export type ForkConversationParams = {
  readonly conversationId: string
  readonly dropLastMessages?: number | null
  readonly beforeMessage?: number | null
}

export type ForkConversationResult = {
  readonly conversationId: string
  readonly model: string
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
  readonly rolloutPath?: string
}

/** Reports the current state and settings of a conversation. */
export type GetConversationParams = {
  readonly conversationId: string
}

export type GetConversationResult = {
  readonly conversationId: string
  readonly model: string
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
  readonly status: "idle" | "running" | "waitingForApproval"
  readonly turnId?: string
  readonly waitingMessages: number
  readonly openQuestions: number
  readonly nextSeq: number
  readonly cwd: string
  readonly approvalPolicy: "untrusted" | "on-failure" | "on-request" | "never"
  readonly sandboxPolicy: SandboxPolicy
  readonly totalTokens?: number
}

/** Submits user input. Responds when the input was accepted. While a turn is running the input joins it, unless `whileRunning` says otherwise. */
export type SendUserMessageParams = {
  readonly conversationId: string
  readonly items: ReadonlyArray<{
    readonly type: "text"
    readonly data: {
      readonly text: string
    }
  } | {
    readonly type: "image"
    readonly data: {
      readonly image_url: string
    }
  } | {
    readonly type: "localImage"
    readonly data: {
      readonly path: string
    }
  }>
  readonly whileRunning?: "queue" | "steer" | "wait" | "interrupt" | "reject" | null
  readonly submissionId?: string | null
}

export type SendUserMessageResult = {
  readonly turnId: string
  readonly disposition: "started" | "joined" | "waiting" | "none"
}

/** Submits user input with settings, which apply to its turn and to later ones. Responds when the input was accepted. While a turn is running the input waits for it to end, unless `whileRunning` says otherwise; input that joins a running turn does not change its settings. */
export type SendUserTurnParams = {
  readonly conversationId: string
  readonly items: ReadonlyArray<{
    readonly type: "text"
    readonly data: {
      readonly text: string
    }
  } | {
    readonly type: "image"
    readonly data: {
      readonly image_url: string
    }
  } | {
    readonly type: "localImage"
    readonly data: {
      readonly path: string
    }
  }>
  readonly whileRunning?: "queue" | "steer" | "wait" | "interrupt" | "reject" | null
  readonly submissionId?: string | null
  readonly cwd: string
  readonly approvalPolicy: "untrusted" | "on-failure" | "on-request" | "never"
  readonly sandboxPolicy: SandboxPolicy
  readonly model: string
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null
  readonly summary: "auto" | "concise" | "detailed" | "none"
}

export type SendUserTurnResult = {
  readonly turnId: string
  readonly disposition: "started" | "joined" | "waiting" | "none"
}

/** Interrupts the running turn and discards queued messages. Responds after the event `turn_aborted`, or at once when no turn is running. */
export type InterruptConversationParams = {
  readonly conversationId: string
}

export type InterruptConversationResult = {
  readonly abortReason: "interrupted" | "replaced" | "review_ended"
  readonly turnId?: string
}

/** Subscribes to a conversation. Its events follow the response, in order; every listener receives all of them. */
export type AddConversationListenerParams = {
  readonly conversationId: string
  readonly experimentalRawEvents?: boolean | null
  readonly after?: number | null
}

export type AddConversationListenerResult = {
  readonly subscriptionId: string
}

/** Ends a subscription. No notification for it follows the response. */
export type RemoveConversationListenerParams = {
  readonly subscriptionId: string
}

export type RemoveConversationListenerResult = Readonly<Record<string, unknown>>

/** Stores an API key for authentication. A browser login that is in progress is cancelled. */
export type LoginApiKeyParams = {
  readonly apiKey: string
}

export type LoginApiKeyResult = Readonly<Record<string, unknown>>

export type LoginChatGptResult = {
  readonly loginId: string
  readonly authUrl: string
}

/** Cancels a browser login that is in progress. */
export type CancelLoginChatGptParams = {
  readonly loginId: string
}

export type CancelLoginChatGptResult = Readonly<Record<string, unknown>>

export type LogoutChatGptResult = Readonly<Record<string, unknown>>

/** Reports the authentication method in use; it is absent when there are no credentials. */
export type GetAuthStatusParams = {
  readonly includeToken?: boolean | null
  readonly refreshToken?: boolean | null
}

export type GetAuthStatusResult = {
  readonly authMethod?: "apikey" | "chatgpt"
  readonly authToken?: string
  readonly requiresOpenaiAuth?: boolean
}

export type UserInfoResult = {
  readonly allegedUserEmail: string | null
}

export type AccountRateLimitsReadResult = {
  readonly rateLimits: Readonly<Record<string, unknown>>
}

/** Reports the nearest commit that exists on a remote, and the diff of the working tree against it, including new files. */
export type GitDiffToRemoteParams = {
  readonly cwd: string
}

export type GitDiffToRemoteResult = {
  readonly sha: string
  readonly diff: string
}

/** Runs a command, given by its words, in the configured sandbox, without an approval. Responds when the command has ended. */
export type ExecOneOffCommandParams = {
  readonly command: ReadonlyArray<string>
  readonly timeoutMs?: number | null
  readonly cwd?: string | null
  readonly sandboxPolicy?: SandboxPolicy | null
}

export type ExecOneOffCommandResult = {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Searches the files below the roots by a query that may leave characters out. Best matches come first. */
export type FuzzyFileSearchParams = {
  readonly query: string
  readonly roots: ReadonlyArray<string>
  readonly cancellationToken?: string | null
}

export type FuzzyFileSearchResult = {
  readonly files: ReadonlyArray<{
    readonly root: string
    readonly path: string
    readonly file_name: string
    readonly score: number
    readonly indices?: ReadonlyArray<number>
  }>
}

export type GetUserSavedConfigResult = {
  readonly config: {
    readonly approvalPolicy?: "untrusted" | "on-failure" | "on-request" | "never"
    readonly sandboxMode?: "read-only" | "workspace-write" | "danger-full-access" | "external-sandbox"
    readonly sandboxSettings?: {
      readonly writableRoots: ReadonlyArray<string>
      readonly networkAccess?: boolean
      readonly excludeTmpdirEnvVar?: boolean
      readonly excludeSlashTmp?: boolean
    }
    readonly model?: string
    readonly modelReasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
    readonly modelReasoningSummary?: "auto" | "concise" | "detailed" | "none"
    readonly modelVerbosity?: "low" | "medium" | "high"
    readonly tools?: {
      readonly webSearch?: boolean
      readonly viewImage?: boolean
    }
    readonly profile?: string
    readonly profiles: Readonly<Record<string, {
      readonly model: string | null
      readonly modelProvider: string | null
      readonly approvalPolicy: "untrusted" | "on-failure" | "on-request" | "never" | null
      readonly modelReasoningEffort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null
      readonly modelReasoningSummary: "auto" | "concise" | "detailed" | "none" | null
      readonly modelVerbosity: "low" | "medium" | "high" | null
      readonly chatgptBaseUrl: string | null
    }>>
  }
}

/** Writes the default model to config.toml, to the active profile if there is one. A member that is absent is cleared. */
export type SetDefaultModelParams = {
  readonly model?: string | null
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null
}

export type SetDefaultModelResult = Readonly<Record<string, unknown>>

/** Lists the known models of the active provider, in pages. */
export type ModelListParams = {
  readonly pageSize?: number | null
  readonly cursor?: string | null
}

export type ModelListResult = {
  readonly items: ReadonlyArray<{
    readonly id: string
    readonly model: string
    readonly displayName: string
    readonly description: string
    readonly supportedReasoningEfforts: ReadonlyArray<{
      readonly reasoningEffort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
      readonly description: string
    }>
    readonly defaultReasoningEffort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
    readonly isDefault: boolean
  }>
  readonly nextCursor?: string
}

/** Asks whether a patch may be applied to these files. */
export type ApplyPatchApprovalParams = {
  readonly conversationId: string
  readonly callId: string
  readonly fileChanges: Readonly<Record<string, FileChange>>
  readonly reason?: string
  readonly grantRoot?: string
} | {
  readonly conversation_id: string
  readonly call_id: string
  readonly file_changes: Readonly<Record<string, FileChange>>
  readonly reason?: string
  readonly grant_root?: string
}

export type ApplyPatchApprovalResult = {
  readonly decision: "approved" | "approved_for_session" | "denied" | "abort"
}

/** Asks whether a command may run. */
export type ExecCommandApprovalParams = {
  readonly conversationId: string
  readonly callId: string
  readonly command: ReadonlyArray<string>
  readonly cwd: string
  readonly reason?: string
  readonly parsedCmd: ReadonlyArray<ParsedCommand>
} | {
  readonly conversation_id: string
  readonly call_id: string
  readonly command: ReadonlyArray<string>
  readonly cwd: string
  readonly reason?: string
}

export type ExecCommandApprovalResult = {
  readonly decision: "approved" | "approved_for_session" | "denied" | "abort"
}

/** A tool server asks the person to fill in a form: `elicitation/create` of the Model Context Protocol, passed on. It is declined when no listening client can show forms. */
export type ElicitationRequestParams = {
  readonly conversationId: string
  readonly elicitationId: string
  readonly serverName: string
  readonly message: string
  readonly requestedSchema: Readonly<Record<string, unknown>>
}

export type ElicitationRequestResult = {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Readonly<Record<string, unknown>> | null
}

/** The turn cannot continue. Its terminal event follows. Sent to every listener. */
export type CodexEventErrorParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A turn has started. Sent to every listener. */
export type CodexEventTaskStartedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A turn has ended by itself. Sent to every listener. */
export type CodexEventTaskCompleteParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A response of the model is complete: the tokens that it used, and the provider's rate limits. Sent to every listener. */
export type CodexEventTokenCountParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A complete message of the agent. Sent to every listener. */
export type CodexEventAgentMessageParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A message of the user, or of the client on the user's behalf. Up to 0.57 the original recorded it and did not send it: its clients would show the message twice. Sent to listeners that gave `after`. */
export type CodexEventUserMessageParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A piece of a message that is still being received. Sent to every listener. */
export type CodexEventAgentMessageDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A complete section of the agent's reasoning summary. Sent to every listener. */
export type CodexEventAgentReasoningParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A piece of a reasoning summary that is still being received. Sent to every listener. */
export type CodexEventAgentReasoningDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The agent's reasoning itself, where the provider gives it and the settings show it. Sent to every listener. */
export type CodexEventAgentReasoningRawContentParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A piece of reasoning that is still being received. Sent to every listener. */
export type CodexEventAgentReasoningRawContentDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The next delta of the reasoning summary begins a new section. Sent to every listener. */
export type CodexEventAgentReasoningSectionBreakParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The first event of a conversation (L3): its id and its settings. The app-server of the original reports it in a separate notification. Sent to listeners that gave `after`. */
export type CodexEventSessionConfiguredParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A tool of a tool server is being called. Sent to every listener. */
export type CodexEventMcpToolCallBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A call of a tool server's tool has ended. Sent to every listener. */
export type CodexEventMcpToolCallEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The model's provider is searching the web. Sent to every listener. */
export type CodexEventWebSearchBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A web search has ended. Sent to every listener. */
export type CodexEventWebSearchEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A command has started. Sent to every listener. */
export type CodexEventExecCommandBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A chunk of a running command's output. Sent to every listener. */
export type CodexEventExecCommandOutputDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A command has ended. Sent to every listener. */
export type CodexEventExecCommandEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A command needs an approval before it may run. Sent to every listener. */
export type CodexEventExecApprovalRequestParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A patch needs an approval before it may be applied. Sent to every listener. */
export type CodexEventApplyPatchApprovalRequestParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A note about what the server is doing. Sent to every listener. */
export type CodexEventBackgroundEventParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The connection to the model failed; the request is sent again. The text that was received so far is discarded. Sent to every listener. */
export type CodexEventStreamErrorParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A patch is being applied. Sent to every listener. */
export type CodexEventPatchApplyBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A patch was applied, or could not be applied. Sent to every listener. */
export type CodexEventPatchApplyEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** All changes of files in this turn so far, as one diff. Sent to every listener. */
export type CodexEventTurnDiffParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** Legacy, never sent: an entry of the original's message history, the response to `get_history_entry_request`. */
export type CodexEventGetHistoryEntryResponseParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The tools of the tool servers, by name: the response to `list_mcp_tools`. Sent to every listener. */
export type CodexEventMcpListToolsResponseParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** Legacy, never sent: the user's prompt files, the response to `list_custom_prompts`. Prompt files are MCP prompts here. */
export type CodexEventListCustomPromptsResponseParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The agent has written or changed its plan. Sent to every listener. */
export type CodexEventPlanUpdateParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A turn was interrupted, replaced by another one, or cut off by the end of the process. Sent to every listener. */
export type CodexEventTurnAbortedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The conversation has ended at a client's request. It is the last event. Sent to every listener. */
export type CodexEventShutdownCompleteParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** Legacy, never sent: the path of the rollout file, the response to `get_path`. */
export type CodexEventConversationPathParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The turn is a review; it accepts no further input. Sent to every listener. */
export type CodexEventEnteredReviewModeParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The review has ended, with what it found: null if the turn ended before. Follows every `entered_review_mode`, before the terminal event of the turn. An answer that is a plain text is `overall_explanation`. Sent to every listener. */
export type CodexEventExitedReviewModeParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** An item of the history that is sent to the model. Sent to listeners that asked for raw events. */
export type CodexEventRawResponseItemParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The agent reads an image file. Sent to every listener. */
export type CodexEventViewImageToolCallParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** Something did not work as configured; the turn continues. Sent to every listener. */
export type CodexEventWarningParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A question was resolved: by a person's answer, or without one for the given reason. Sent to listeners that gave `after`. */
export type CodexEventApprovalResolvedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A tool server asks a person to fill in a form. Sent to listeners that gave `after`. */
export type CodexEventElicitationRequestParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The history was replaced by the initial context, one message that quotes the user's messages, and the summary `message`. Sent to listeners that gave `after`. */
export type CodexEventCompactedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The end of the conversation was dropped, from the turn `turn_id` on. The dropped events stay in the log. Sent to listeners that gave `after`. */
export type CodexEventThreadRolledBackParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A tool of the embedding application or of a client is being called, or a tool has refused a call. Sent to listeners that gave `after`. */
export type CodexEventToolCallBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A call of a tool of the embedding application or of a client has ended, or a tool has refused a call. Sent to listeners that gave `after`. */
export type CodexEventToolCallEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A call of a tool of the embedding application or of a tool server needs an approval. Sent to listeners that gave `after`. */
export type CodexEventToolApprovalRequestParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The queue of input has changed: input was added, edited, moved or removed, or has started a turn. Sent to listeners that gave `after`. */
export type CodexEventQueueChangedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A client is to run one of its tools. Sent to listeners that gave `after`. */
export type CodexEventClientToolCallParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The agent asks a person questions, and the turn waits for the answers. Sent to listeners that gave `after`. */
export type CodexEventRequestUserInputParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The turns so far were marked as read, or as unread. Sent to listeners that gave `after`. */
export type CodexEventReadMarkedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The agent asks a person for further permissions. Sent to listeners that gave `after`. */
export type CodexEventRequestPermissionsParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A tool server reports the progress of a call that runs. Sent to listeners that gave `after`. */
export type CodexEventMcpToolCallProgressParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A stored conversation was resumed. Sent after the response to `resumeConversation`. */
export type SessionConfiguredParams = {
  readonly sessionId: string
  readonly model: string
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
  readonly historyLogId: number
  readonly historyEntryCount: number
  readonly initialMessages?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly rolloutPath?: string
}

/** The listener has received every recorded event before the number `seq`; what follows is live. Sent to listeners that gave `after`, and after `conversationLagged`. */
export type ConversationSyncedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq: number
}

/** The client read too slowly and deltas were dropped. The durable events follow again, starting with the given number. */
export type ConversationLaggedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly from: number
}

/** The durable event with this number is not sent to this listener, which did not ask for raw events. A listener that gave `after` therefore receives every number once and in order, and can detect a lost event by a missing number. */
export type ConversationSkippedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq: number
}

/** Without `reason`: the conversation has ended, for example because it was archived, and nothing more is sent to this listener. Sent to listeners that gave `after`; not sent when the server shuts down, because the conversation can be resumed then. With `reason`, sent to every listener: the store failed, the running turn was stopped and its questions were withdrawn. When any client uses the conversation again, the turn gets its terminal event, and the listener receives it and what follows. */
export type ConversationClosedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly reason?: string
}

/** The provider reported rate limits that differ from the last ones, in a conversation that has a listener. */
export type AccountRateLimitsUpdatedParams = Readonly<Record<string, unknown>>

/** The credentials changed, through this or another connection. Without `authMethod` there are none. */
export type AuthStatusChangeParams = {
  readonly authMethod?: "apikey" | "chatgpt"
}

/** A browser login that this connection started has ended. */
export type LoginChatGptCompleteParams = {
  readonly loginId: string
  readonly success: boolean
  readonly error?: string
}

/** Requests that the client sends, by their names on the wire. */
export interface ClientRequests {
  /** Introduces the client. Must be sent once, before every other request. */
  "initialize": { params: InitializeParams; result: InitializeResult }
  /** Reports the user agent that the server sends to providers. */
  "getUserAgent": { params: undefined; result: GetUserAgentResult }
  /** Creates a conversation. No turn starts yet. */
  "newConversation": { params: NewConversationParams; result: NewConversationResult }
  /** Lists the stored conversations that have a user message, newest first, in pages. An invalid cursor is ignored. */
  "listConversations": { params: ListConversationsParams; result: ListConversationsResult }
  /** Resumes a stored conversation by the path of its rollout file. `overrides` replace single settings of those it had. */
  "resumeConversation": { params: ResumeConversationParams; result: ResumeConversationResult }
  /** Ends a conversation and moves its rollout file to the archive. */
  "archiveConversation": { params: ArchiveConversationParams; result: ArchiveConversationResult }
  /** Creates a conversation from the beginning of another one. A running turn is not copied and continues there. */
  "forkConversation": { params: ForkConversationParams; result: ForkConversationResult }
  /** Reports the current state and settings of a conversation. */
  "getConversation": { params: GetConversationParams; result: GetConversationResult }
  /** Submits user input. Responds when the input was accepted. While a turn is running the input joins it, unless `whileRunning` says otherwise. */
  "sendUserMessage": { params: SendUserMessageParams; result: SendUserMessageResult }
  /** Submits user input with settings, which apply to its turn and to later ones. Responds when the input was accepted. While a turn is running the input waits for it to end, unless `whileRunning` says otherwise; input that joins a running turn does not change its settings. */
  "sendUserTurn": { params: SendUserTurnParams; result: SendUserTurnResult }
  /** Interrupts the running turn and discards queued messages. Responds after the event `turn_aborted`, or at once when no turn is running. */
  "interruptConversation": { params: InterruptConversationParams; result: InterruptConversationResult }
  /** Subscribes to a conversation. Its events follow the response, in order; every listener receives all of them. */
  "addConversationListener": { params: AddConversationListenerParams; result: AddConversationListenerResult }
  /** Ends a subscription. No notification for it follows the response. */
  "removeConversationListener": { params: RemoveConversationListenerParams; result: RemoveConversationListenerResult }
  /** Stores an API key for authentication. A browser login that is in progress is cancelled. */
  "loginApiKey": { params: LoginApiKeyParams; result: LoginApiKeyResult }
  /** Starts a login in the browser and responds with its URL. `loginChatGptComplete` reports the end of the login. */
  "loginChatGpt": { params: undefined; result: LoginChatGptResult }
  /** Cancels a browser login that is in progress. */
  "cancelLoginChatGpt": { params: CancelLoginChatGptParams; result: CancelLoginChatGptResult }
  /** Removes the stored credentials. */
  "logoutChatGpt": { params: undefined; result: LogoutChatGptResult }
  /** Reports the authentication method in use; it is absent when there are no credentials. */
  "getAuthStatus": { params: GetAuthStatusParams; result: GetAuthStatusResult }
  /** Reports the e-mail address that the stored token claims. It is not verified. */
  "userInfo": { params: undefined; result: UserInfoResult }
  /** Reports how much of the provider's rate limits is used. */
  "account/rateLimits/read": { params: undefined; result: AccountRateLimitsReadResult }
  /** Reports the nearest commit that exists on a remote, and the diff of the working tree against it, including new files. */
  "gitDiffToRemote": { params: GitDiffToRemoteParams; result: GitDiffToRemoteResult }
  /** Runs a command, given by its words, in the configured sandbox, without an approval. Responds when the command has ended. */
  "execOneOffCommand": { params: ExecOneOffCommandParams; result: ExecOneOffCommandResult }
  /** Searches the files below the roots by a query that may leave characters out. Best matches come first. */
  "fuzzyFileSearch": { params: FuzzyFileSearchParams; result: FuzzyFileSearchResult }
  /** Reports the settings in config.toml that clients show. */
  "getUserSavedConfig": { params: undefined; result: GetUserSavedConfigResult }
  /** Writes the default model to config.toml, to the active profile if there is one. A member that is absent is cleared. */
  "setDefaultModel": { params: SetDefaultModelParams; result: SetDefaultModelResult }
  /** Lists the known models of the active provider, in pages. */
  "model/list": { params: ModelListParams; result: ModelListResult }
}

/** Notifications that the client sends, by their names on the wire. */
export interface ClientNotifications {
  /** The client has received the response to `initialize`. It has no effect. */
  "initialized": { params: undefined }
  /** Cancels a request. From the server: the request needs no response any more, because another client answered the question or it was withdrawn. From the client: the request ends and gets the error -32800 as its response, unless its response is already being sent or it cannot be cancelled. An unknown id is ignored. */
  "$/cancelRequest": { params: CancelRequestParams }
}

/** Requests that the server sends, by their names on the wire. */
export interface ServerRequests {
  /** Asks whether a patch may be applied to these files. */
  "applyPatchApproval": { params: ApplyPatchApprovalParams; result: ApplyPatchApprovalResult }
  /** Asks whether a command may run. */
  "execCommandApproval": { params: ExecCommandApprovalParams; result: ExecCommandApprovalResult }
  /** A tool server asks the person to fill in a form: `elicitation/create` of the Model Context Protocol, passed on. It is declined when no listening client can show forms. */
  "elicitationRequest": { params: ElicitationRequestParams; result: ElicitationRequestResult }
}

/** Notifications that the server sends, by their names on the wire. */
export interface ServerNotifications {
  /** The turn cannot continue. Its terminal event follows. Sent to every listener. */
  "codex/event/error": { params: CodexEventErrorParams }
  /** A turn has started. Sent to every listener. */
  "codex/event/task_started": { params: CodexEventTaskStartedParams }
  /** A turn has ended by itself. Sent to every listener. */
  "codex/event/task_complete": { params: CodexEventTaskCompleteParams }
  /** A response of the model is complete: the tokens that it used, and the provider's rate limits. Sent to every listener. */
  "codex/event/token_count": { params: CodexEventTokenCountParams }
  /** A complete message of the agent. Sent to every listener. */
  "codex/event/agent_message": { params: CodexEventAgentMessageParams }
  /** A message of the user, or of the client on the user's behalf. Up to 0.57 the original recorded it and did not send it: its clients would show the message twice. Sent to listeners that gave `after`. */
  "codex/event/user_message": { params: CodexEventUserMessageParams }
  /** A piece of a message that is still being received. Sent to every listener. */
  "codex/event/agent_message_delta": { params: CodexEventAgentMessageDeltaParams }
  /** A complete section of the agent's reasoning summary. Sent to every listener. */
  "codex/event/agent_reasoning": { params: CodexEventAgentReasoningParams }
  /** A piece of a reasoning summary that is still being received. Sent to every listener. */
  "codex/event/agent_reasoning_delta": { params: CodexEventAgentReasoningDeltaParams }
  /** The agent's reasoning itself, where the provider gives it and the settings show it. Sent to every listener. */
  "codex/event/agent_reasoning_raw_content": { params: CodexEventAgentReasoningRawContentParams }
  /** A piece of reasoning that is still being received. Sent to every listener. */
  "codex/event/agent_reasoning_raw_content_delta": { params: CodexEventAgentReasoningRawContentDeltaParams }
  /** The next delta of the reasoning summary begins a new section. Sent to every listener. */
  "codex/event/agent_reasoning_section_break": { params: CodexEventAgentReasoningSectionBreakParams }
  /** The first event of a conversation (L3): its id and its settings. The app-server of the original reports it in a separate notification. Sent to listeners that gave `after`. */
  "codex/event/session_configured": { params: CodexEventSessionConfiguredParams }
  /** A tool of a tool server is being called. Sent to every listener. */
  "codex/event/mcp_tool_call_begin": { params: CodexEventMcpToolCallBeginParams }
  /** A call of a tool server's tool has ended. Sent to every listener. */
  "codex/event/mcp_tool_call_end": { params: CodexEventMcpToolCallEndParams }
  /** The model's provider is searching the web. Sent to every listener. */
  "codex/event/web_search_begin": { params: CodexEventWebSearchBeginParams }
  /** A web search has ended. Sent to every listener. */
  "codex/event/web_search_end": { params: CodexEventWebSearchEndParams }
  /** A command has started. Sent to every listener. */
  "codex/event/exec_command_begin": { params: CodexEventExecCommandBeginParams }
  /** A chunk of a running command's output. Sent to every listener. */
  "codex/event/exec_command_output_delta": { params: CodexEventExecCommandOutputDeltaParams }
  /** A command has ended. Sent to every listener. */
  "codex/event/exec_command_end": { params: CodexEventExecCommandEndParams }
  /** A command needs an approval before it may run. Sent to every listener. */
  "codex/event/exec_approval_request": { params: CodexEventExecApprovalRequestParams }
  /** A patch needs an approval before it may be applied. Sent to every listener. */
  "codex/event/apply_patch_approval_request": { params: CodexEventApplyPatchApprovalRequestParams }
  /** A note about what the server is doing. Sent to every listener. */
  "codex/event/background_event": { params: CodexEventBackgroundEventParams }
  /** The connection to the model failed; the request is sent again. The text that was received so far is discarded. Sent to every listener. */
  "codex/event/stream_error": { params: CodexEventStreamErrorParams }
  /** A patch is being applied. Sent to every listener. */
  "codex/event/patch_apply_begin": { params: CodexEventPatchApplyBeginParams }
  /** A patch was applied, or could not be applied. Sent to every listener. */
  "codex/event/patch_apply_end": { params: CodexEventPatchApplyEndParams }
  /** All changes of files in this turn so far, as one diff. Sent to every listener. */
  "codex/event/turn_diff": { params: CodexEventTurnDiffParams }
  /** Legacy, never sent: an entry of the original's message history, the response to `get_history_entry_request`. */
  "codex/event/get_history_entry_response": { params: CodexEventGetHistoryEntryResponseParams }
  /** The tools of the tool servers, by name: the response to `list_mcp_tools`. Sent to every listener. */
  "codex/event/mcp_list_tools_response": { params: CodexEventMcpListToolsResponseParams }
  /** Legacy, never sent: the user's prompt files, the response to `list_custom_prompts`. Prompt files are MCP prompts here. */
  "codex/event/list_custom_prompts_response": { params: CodexEventListCustomPromptsResponseParams }
  /** The agent has written or changed its plan. Sent to every listener. */
  "codex/event/plan_update": { params: CodexEventPlanUpdateParams }
  /** A turn was interrupted, replaced by another one, or cut off by the end of the process. Sent to every listener. */
  "codex/event/turn_aborted": { params: CodexEventTurnAbortedParams }
  /** The conversation has ended at a client's request. It is the last event. Sent to every listener. */
  "codex/event/shutdown_complete": { params: CodexEventShutdownCompleteParams }
  /** Legacy, never sent: the path of the rollout file, the response to `get_path`. */
  "codex/event/conversation_path": { params: CodexEventConversationPathParams }
  /** The turn is a review; it accepts no further input. Sent to every listener. */
  "codex/event/entered_review_mode": { params: CodexEventEnteredReviewModeParams }
  /** The review has ended, with what it found: null if the turn ended before. Follows every `entered_review_mode`, before the terminal event of the turn. An answer that is a plain text is `overall_explanation`. Sent to every listener. */
  "codex/event/exited_review_mode": { params: CodexEventExitedReviewModeParams }
  /** An item of the history that is sent to the model. Sent to listeners that asked for raw events. */
  "codex/event/raw_response_item": { params: CodexEventRawResponseItemParams }
  /** The agent reads an image file. Sent to every listener. */
  "codex/event/view_image_tool_call": { params: CodexEventViewImageToolCallParams }
  /** Something did not work as configured; the turn continues. Sent to every listener. */
  "codex/event/warning": { params: CodexEventWarningParams }
  /** A question was resolved: by a person's answer, or without one for the given reason. Sent to listeners that gave `after`. */
  "codex/event/approval_resolved": { params: CodexEventApprovalResolvedParams }
  /** A tool server asks a person to fill in a form. Sent to listeners that gave `after`. */
  "codex/event/elicitation_request": { params: CodexEventElicitationRequestParams }
  /** The history was replaced by the initial context, one message that quotes the user's messages, and the summary `message`. Sent to listeners that gave `after`. */
  "codex/event/compacted": { params: CodexEventCompactedParams }
  /** The end of the conversation was dropped, from the turn `turn_id` on. The dropped events stay in the log. Sent to listeners that gave `after`. */
  "codex/event/thread_rolled_back": { params: CodexEventThreadRolledBackParams }
  /** A tool of the embedding application or of a client is being called, or a tool has refused a call. Sent to listeners that gave `after`. */
  "codex/event/tool_call_begin": { params: CodexEventToolCallBeginParams }
  /** A call of a tool of the embedding application or of a client has ended, or a tool has refused a call. Sent to listeners that gave `after`. */
  "codex/event/tool_call_end": { params: CodexEventToolCallEndParams }
  /** A call of a tool of the embedding application or of a tool server needs an approval. Sent to listeners that gave `after`. */
  "codex/event/tool_approval_request": { params: CodexEventToolApprovalRequestParams }
  /** The queue of input has changed: input was added, edited, moved or removed, or has started a turn. Sent to listeners that gave `after`. */
  "codex/event/queue_changed": { params: CodexEventQueueChangedParams }
  /** A client is to run one of its tools. Sent to listeners that gave `after`. */
  "codex/event/client_tool_call": { params: CodexEventClientToolCallParams }
  /** The agent asks a person questions, and the turn waits for the answers. Sent to listeners that gave `after`. */
  "codex/event/request_user_input": { params: CodexEventRequestUserInputParams }
  /** The turns so far were marked as read, or as unread. Sent to listeners that gave `after`. */
  "codex/event/read_marked": { params: CodexEventReadMarkedParams }
  /** The agent asks a person for further permissions. Sent to listeners that gave `after`. */
  "codex/event/request_permissions": { params: CodexEventRequestPermissionsParams }
  /** A tool server reports the progress of a call that runs. Sent to listeners that gave `after`. */
  "codex/event/mcp_tool_call_progress": { params: CodexEventMcpToolCallProgressParams }
  /** A stored conversation was resumed. Sent after the response to `resumeConversation`. */
  "sessionConfigured": { params: SessionConfiguredParams }
  /** The listener has received every recorded event before the number `seq`; what follows is live. Sent to listeners that gave `after`, and after `conversationLagged`. */
  "conversationSynced": { params: ConversationSyncedParams }
  /** The client read too slowly and deltas were dropped. The durable events follow again, starting with the given number. */
  "conversationLagged": { params: ConversationLaggedParams }
  /** The durable event with this number is not sent to this listener, which did not ask for raw events. A listener that gave `after` therefore receives every number once and in order, and can detect a lost event by a missing number. */
  "conversationSkipped": { params: ConversationSkippedParams }
  /** Without `reason`: the conversation has ended, for example because it was archived, and nothing more is sent to this listener. Sent to listeners that gave `after`; not sent when the server shuts down, because the conversation can be resumed then. With `reason`, sent to every listener: the store failed, the running turn was stopped and its questions were withdrawn. When any client uses the conversation again, the turn gets its terminal event, and the listener receives it and what follows. */
  "conversationClosed": { params: ConversationClosedParams }
  /** Cancels a request. From the server: the request needs no response any more, because another client answered the question or it was withdrawn. From the client: the request ends and gets the error -32800 as its response, unless its response is already being sent or it cannot be cancelled. An unknown id is ignored. */
  "$/cancelRequest": { params: CancelRequestParams }
  /** The provider reported rate limits that differ from the last ones, in a conversation that has a listener. */
  "account/rateLimits/updated": { params: AccountRateLimitsUpdatedParams }
  /** The credentials changed, through this or another connection. Without `authMethod` there are none. */
  "authStatusChange": { params: AuthStatusChangeParams }
  /** A browser login that this connection started has ended. */
  "loginChatGptComplete": { params: LoginChatGptCompleteParams }
}
