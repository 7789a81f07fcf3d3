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

export type ErrorEvent = {
  readonly type: "error"
  readonly message: string
}

export type TaskStartedEvent = {
  readonly type: "task_started"
  readonly model_context_window: number | null
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

export type EventMsg = ErrorEvent | TaskStartedEvent | TaskCompleteEvent | TokenCountEvent | AgentMessageEvent | UserMessageEvent | AgentMessageDeltaEvent | AgentReasoningEvent | AgentReasoningDeltaEvent | AgentReasoningRawContentEvent | AgentReasoningRawContentDeltaEvent | AgentReasoningSectionBreakEvent | SessionConfiguredEvent | McpToolCallBeginEvent | McpToolCallEndEvent | WebSearchBeginEvent | WebSearchEndEvent | ExecCommandBeginEvent | ExecCommandOutputDeltaEvent | ExecCommandEndEvent | ExecApprovalRequestEvent | ApplyPatchApprovalRequestEvent | BackgroundEventEvent | StreamErrorEvent | PatchApplyBeginEvent | PatchApplyEndEvent | TurnDiffEvent | GetHistoryEntryResponseEvent | McpListToolsResponseEvent | ListCustomPromptsResponseEvent | PlanUpdateEvent | TurnAbortedEvent | ShutdownCompleteEvent | ConversationPathEvent | EnteredReviewModeEvent | ExitedReviewModeEvent | RawResponseItemEvent | ViewImageToolCallEvent | WarningEvent | ApprovalResolvedEvent | ElicitationRequestEvent | CompactedEvent

/** Says who the client is. Comes once, before every other request. */
export type InitializeParams = {
  readonly clientInfo: {
    readonly name: string
    readonly title?: string | null
    readonly version: string
  }
  readonly capabilities?: {
    readonly approvals?: "camelCase" | "snake_case" | "none" | null
    readonly elicitation?: boolean | null
  } | null
}

export type InitializeResult = {
  readonly userAgent: string
}

/** Takes a request back. One of the server's is over without an answer: somebody else gave it, or nobody needs it any more. One of the client's ends and is answered with the error -32800, unless its answer is on its way or it cannot be cancelled; another id is ignored. */
export type CancelRequestParams = {
  readonly id: string | number | RawIntegerEncoded
}

export type GetUserAgentResult = {
  readonly userAgent: string
}

/** Makes a conversation. Nothing runs yet. */
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

/** Stored conversations in which somebody has spoken, newest first, a page at a time; a cursor that cannot be read is none. */
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

/** Takes up a stored conversation by the path of its file, with the settings that it had and these on top of them. */
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

/** Ends a conversation and moves its file to the archive. */
export type ArchiveConversationParams = {
  readonly conversationId: string
  readonly rolloutPath?: string | null
}

export type ArchiveConversationResult = Readonly<Record<string, unknown>>

/** Makes a conversation of another one's beginning. A turn that runs there is left out and goes on. */
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

/** What a conversation does at the moment. */
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

/** Says something. Answered when it was taken; while a turn runs it joins that turn unless `whileRunning` says otherwise. */
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

/** Says something in a turn with settings of its own, which stay for later ones. While a turn runs it waits unless `whileRunning` says otherwise: what joins a running turn leaves its settings alone. */
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

/** Stops the turn that runs and drops what waits. Answered behind the event `turn_aborted`, or at once when no turn runs. */
export type InterruptConversationParams = {
  readonly conversationId: string
}

export type InterruptConversationResult = {
  readonly abortReason: "interrupted" | "replaced" | "review_ended"
  readonly turnId?: string
}

/** Subscribes to a conversation. Its events come behind the answer, in order, to every listener. */
export type AddConversationListenerParams = {
  readonly conversationId: string
  readonly experimentalRawEvents?: boolean | null
  readonly after?: number | null
}

export type AddConversationListenerResult = {
  readonly subscriptionId: string
}

/** Ends a subscription; nothing of it follows the answer. */
export type RemoveConversationListenerParams = {
  readonly subscriptionId: string
}

export type RemoveConversationListenerResult = Readonly<Record<string, unknown>>

/** Keeps an API key; a login under way ends. */
export type LoginApiKeyParams = {
  readonly apiKey: string
}

export type LoginApiKeyResult = Readonly<Record<string, unknown>>

export type LoginChatGptResult = {
  readonly loginId: string
  readonly authUrl: string
}

/** Ends a login under way. */
export type CancelLoginChatGptParams = {
  readonly loginId: string
}

export type CancelLoginChatGptResult = Readonly<Record<string, unknown>>

export type LogoutChatGptResult = Readonly<Record<string, unknown>>

/** Whether and how somebody is logged in. */
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

/** The nearest commit that a remote has, and the diff of the working tree against it, new files included. */
export type GitDiffToRemoteParams = {
  readonly cwd: string
}

export type GitDiffToRemoteResult = {
  readonly sha: string
  readonly diff: string
}

/** Runs a program, word by word, in the sandbox of the configuration; no person is asked. */
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

/** Files below the roots whose path resembles the query, best first. */
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

/** Writes the model of new conversations to config.toml, to the active profile where there is one; what is left out is cleared. */
export type SetDefaultModelParams = {
  readonly model?: string | null
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | null
}

export type SetDefaultModelResult = Readonly<Record<string, unknown>>

/** The models that are known of the provider in effect, a page at a time. */
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

/** May these files be changed? */
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

/** May this command run? */
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

/** A tool server asks for something to be filled in: `elicitation/create` of the Model Context Protocol, passed on. Where no client that listens can show it, it is declined. */
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

/** The event `error` of a conversation, once per listener. */
export type CodexEventErrorParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `task_started` of a conversation, once per listener. */
export type CodexEventTaskStartedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `task_complete` of a conversation, once per listener. */
export type CodexEventTaskCompleteParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `token_count` of a conversation, once per listener. */
export type CodexEventTokenCountParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `agent_message` of a conversation, once per listener. */
export type CodexEventAgentMessageParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `user_message` of a conversation, once per listener. */
export type CodexEventUserMessageParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `agent_message_delta` of a conversation, once per listener. */
export type CodexEventAgentMessageDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `agent_reasoning` of a conversation, once per listener. */
export type CodexEventAgentReasoningParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `agent_reasoning_delta` of a conversation, once per listener. */
export type CodexEventAgentReasoningDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `agent_reasoning_raw_content` of a conversation, once per listener. */
export type CodexEventAgentReasoningRawContentParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `agent_reasoning_raw_content_delta` of a conversation, once per listener. */
export type CodexEventAgentReasoningRawContentDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `agent_reasoning_section_break` of a conversation, once per listener. */
export type CodexEventAgentReasoningSectionBreakParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `session_configured` of a conversation, once per listener. */
export type CodexEventSessionConfiguredParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `mcp_tool_call_begin` of a conversation, once per listener. */
export type CodexEventMcpToolCallBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `mcp_tool_call_end` of a conversation, once per listener. */
export type CodexEventMcpToolCallEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `web_search_begin` of a conversation, once per listener. */
export type CodexEventWebSearchBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `web_search_end` of a conversation, once per listener. */
export type CodexEventWebSearchEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `exec_command_begin` of a conversation, once per listener. */
export type CodexEventExecCommandBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `exec_command_output_delta` of a conversation, once per listener. */
export type CodexEventExecCommandOutputDeltaParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `exec_command_end` of a conversation, once per listener. */
export type CodexEventExecCommandEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `exec_approval_request` of a conversation, once per listener. */
export type CodexEventExecApprovalRequestParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `apply_patch_approval_request` of a conversation, once per listener. */
export type CodexEventApplyPatchApprovalRequestParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `background_event` of a conversation, once per listener. */
export type CodexEventBackgroundEventParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `stream_error` of a conversation, once per listener. */
export type CodexEventStreamErrorParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `patch_apply_begin` of a conversation, once per listener. */
export type CodexEventPatchApplyBeginParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `patch_apply_end` of a conversation, once per listener. */
export type CodexEventPatchApplyEndParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `turn_diff` of a conversation, once per listener. */
export type CodexEventTurnDiffParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `get_history_entry_response` of a conversation, once per listener. */
export type CodexEventGetHistoryEntryResponseParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `mcp_list_tools_response` of a conversation, once per listener. */
export type CodexEventMcpListToolsResponseParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `list_custom_prompts_response` of a conversation, once per listener. */
export type CodexEventListCustomPromptsResponseParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `plan_update` of a conversation, once per listener. */
export type CodexEventPlanUpdateParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `turn_aborted` of a conversation, once per listener. */
export type CodexEventTurnAbortedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `shutdown_complete` of a conversation, once per listener. */
export type CodexEventShutdownCompleteParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `conversation_path` of a conversation, once per listener. */
export type CodexEventConversationPathParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `entered_review_mode` of a conversation, once per listener. */
export type CodexEventEnteredReviewModeParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `exited_review_mode` of a conversation, once per listener. */
export type CodexEventExitedReviewModeParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `raw_response_item` of a conversation, once per listener. */
export type CodexEventRawResponseItemParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `view_image_tool_call` of a conversation, once per listener. */
export type CodexEventViewImageToolCallParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `warning` of a conversation, once per listener. */
export type CodexEventWarningParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `approval_resolved` of a conversation, once per listener. */
export type CodexEventApprovalResolvedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `elicitation_request` of a conversation, once per listener. */
export type CodexEventElicitationRequestParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** The event `compacted` of a conversation, once per listener. */
export type CodexEventCompactedParams = {
  readonly id: string
  readonly msg: EventMsg | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq?: number
}

/** A stored conversation was taken up. */
export type SessionConfiguredParams = {
  readonly sessionId: string
  readonly model: string
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"
  readonly historyLogId: number
  readonly historyEntryCount: number
  readonly initialMessages?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly rolloutPath?: string
}

/** The listener has been told of everything so far; what follows is new. Comes where `after` was given, and after `conversationLagged`. */
export type ConversationSyncedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq: number
}

/** The client read too slowly: pieces of text were lost, the events that are kept follow again from a number on. */
export type ConversationLaggedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly from: number
}

/** The event with this number is kept in the log and is not sent to this listener, which did not ask for raw events. With it a listener that gave `after` is sent every number once and in order: a number that is missing is lost. */
export type ConversationSkippedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly seq: number
}

/** Without `reason`: the conversation has ended, because it was archived for example; nothing more is sent to the listener. Sent where `after` was given, and not at the end of the server, since the conversation continues with the next one. With `reason`, sent to every listener: the store failed, the running turn has been stopped and its questions are withdrawn. When the conversation is used again, by any client, the turn gets its terminal event, and the listener is sent it and what follows. */
export type ConversationClosedParams = {
  readonly conversationId: string
  readonly subscriptionId: string
  readonly reason?: string
}

/** The provider has told other limits than before, in a conversation that somebody listens to. */
export type AccountRateLimitsUpdatedParams = Readonly<Record<string, unknown>>

/** Somebody has logged in or out, by whichever connection; without a method nobody is logged in. */
export type AuthStatusChangeParams = {
  readonly authMethod?: "apikey" | "chatgpt"
}

/** A login in the browser that this connection began has ended. */
export type LoginChatGptCompleteParams = {
  readonly loginId: string
  readonly success: boolean
  readonly error?: string
}

/** Requests that the client sends, by their names on the wire. */
export interface ClientRequests {
  /** Says who the client is. Comes once, before every other request. */
  "initialize": { params: InitializeParams; result: InitializeResult }
  /** How the server calls itself to providers. */
  "getUserAgent": { params: undefined; result: GetUserAgentResult }
  /** Makes a conversation. Nothing runs yet. */
  "newConversation": { params: NewConversationParams; result: NewConversationResult }
  /** Stored conversations in which somebody has spoken, newest first, a page at a time; a cursor that cannot be read is none. */
  "listConversations": { params: ListConversationsParams; result: ListConversationsResult }
  /** Takes up a stored conversation by the path of its file, with the settings that it had and these on top of them. */
  "resumeConversation": { params: ResumeConversationParams; result: ResumeConversationResult }
  /** Ends a conversation and moves its file to the archive. */
  "archiveConversation": { params: ArchiveConversationParams; result: ArchiveConversationResult }
  /** Makes a conversation of another one's beginning. A turn that runs there is left out and goes on. */
  "forkConversation": { params: ForkConversationParams; result: ForkConversationResult }
  /** What a conversation does at the moment. */
  "getConversation": { params: GetConversationParams; result: GetConversationResult }
  /** Says something. Answered when it was taken; while a turn runs it joins that turn unless `whileRunning` says otherwise. */
  "sendUserMessage": { params: SendUserMessageParams; result: SendUserMessageResult }
  /** Says something in a turn with settings of its own, which stay for later ones. While a turn runs it waits unless `whileRunning` says otherwise: what joins a running turn leaves its settings alone. */
  "sendUserTurn": { params: SendUserTurnParams; result: SendUserTurnResult }
  /** Stops the turn that runs and drops what waits. Answered behind the event `turn_aborted`, or at once when no turn runs. */
  "interruptConversation": { params: InterruptConversationParams; result: InterruptConversationResult }
  /** Subscribes to a conversation. Its events come behind the answer, in order, to every listener. */
  "addConversationListener": { params: AddConversationListenerParams; result: AddConversationListenerResult }
  /** Ends a subscription; nothing of it follows the answer. */
  "removeConversationListener": { params: RemoveConversationListenerParams; result: RemoveConversationListenerResult }
  /** Keeps an API key; a login under way ends. */
  "loginApiKey": { params: LoginApiKeyParams; result: LoginApiKeyResult }
  /** Begins a login in the browser; `loginChatGptComplete` tells of its end. */
  "loginChatGpt": { params: undefined; result: LoginChatGptResult }
  /** Ends a login under way. */
  "cancelLoginChatGpt": { params: CancelLoginChatGptParams; result: CancelLoginChatGptResult }
  /** Forgets what was logged in with. */
  "logoutChatGpt": { params: undefined; result: LogoutChatGptResult }
  /** Whether and how somebody is logged in. */
  "getAuthStatus": { params: GetAuthStatusParams; result: GetAuthStatusResult }
  /** The address that the stored token claims, unchecked. */
  "userInfo": { params: undefined; result: UserInfoResult }
  /** How much of what the provider allows is used. */
  "account/rateLimits/read": { params: undefined; result: AccountRateLimitsReadResult }
  /** The nearest commit that a remote has, and the diff of the working tree against it, new files included. */
  "gitDiffToRemote": { params: GitDiffToRemoteParams; result: GitDiffToRemoteResult }
  /** Runs a program, word by word, in the sandbox of the configuration; no person is asked. */
  "execOneOffCommand": { params: ExecOneOffCommandParams; result: ExecOneOffCommandResult }
  /** Files below the roots whose path resembles the query, best first. */
  "fuzzyFileSearch": { params: FuzzyFileSearchParams; result: FuzzyFileSearchResult }
  /** What stands in config.toml, of the keys that clients show. */
  "getUserSavedConfig": { params: undefined; result: GetUserSavedConfigResult }
  /** Writes the model of new conversations to config.toml, to the active profile where there is one; what is left out is cleared. */
  "setDefaultModel": { params: SetDefaultModelParams; result: SetDefaultModelResult }
  /** The models that are known of the provider in effect, a page at a time. */
  "model/list": { params: ModelListParams; result: ModelListResult }
}

/** Notifications that the client sends, by their names on the wire. */
export interface ClientNotifications {
  /** The client has read the answer to its first request; nothing waits for it. */
  "initialized": { params: undefined }
  /** Takes a request back. One of the server's is over without an answer: somebody else gave it, or nobody needs it any more. One of the client's ends and is answered with the error -32800, unless its answer is on its way or it cannot be cancelled; another id is ignored. */
  "$/cancelRequest": { params: CancelRequestParams }
}

/** Requests that the server sends, by their names on the wire. */
export interface ServerRequests {
  /** May these files be changed? */
  "applyPatchApproval": { params: ApplyPatchApprovalParams; result: ApplyPatchApprovalResult }
  /** May this command run? */
  "execCommandApproval": { params: ExecCommandApprovalParams; result: ExecCommandApprovalResult }
  /** A tool server asks for something to be filled in: `elicitation/create` of the Model Context Protocol, passed on. Where no client that listens can show it, it is declined. */
  "elicitationRequest": { params: ElicitationRequestParams; result: ElicitationRequestResult }
}

/** Notifications that the server sends, by their names on the wire. */
export interface ServerNotifications {
  /** The event `error` of a conversation, once per listener. */
  "codex/event/error": { params: CodexEventErrorParams }
  /** The event `task_started` of a conversation, once per listener. */
  "codex/event/task_started": { params: CodexEventTaskStartedParams }
  /** The event `task_complete` of a conversation, once per listener. */
  "codex/event/task_complete": { params: CodexEventTaskCompleteParams }
  /** The event `token_count` of a conversation, once per listener. */
  "codex/event/token_count": { params: CodexEventTokenCountParams }
  /** The event `agent_message` of a conversation, once per listener. */
  "codex/event/agent_message": { params: CodexEventAgentMessageParams }
  /** The event `user_message` of a conversation, once per listener. */
  "codex/event/user_message": { params: CodexEventUserMessageParams }
  /** The event `agent_message_delta` of a conversation, once per listener. */
  "codex/event/agent_message_delta": { params: CodexEventAgentMessageDeltaParams }
  /** The event `agent_reasoning` of a conversation, once per listener. */
  "codex/event/agent_reasoning": { params: CodexEventAgentReasoningParams }
  /** The event `agent_reasoning_delta` of a conversation, once per listener. */
  "codex/event/agent_reasoning_delta": { params: CodexEventAgentReasoningDeltaParams }
  /** The event `agent_reasoning_raw_content` of a conversation, once per listener. */
  "codex/event/agent_reasoning_raw_content": { params: CodexEventAgentReasoningRawContentParams }
  /** The event `agent_reasoning_raw_content_delta` of a conversation, once per listener. */
  "codex/event/agent_reasoning_raw_content_delta": { params: CodexEventAgentReasoningRawContentDeltaParams }
  /** The event `agent_reasoning_section_break` of a conversation, once per listener. */
  "codex/event/agent_reasoning_section_break": { params: CodexEventAgentReasoningSectionBreakParams }
  /** The event `session_configured` of a conversation, once per listener. */
  "codex/event/session_configured": { params: CodexEventSessionConfiguredParams }
  /** The event `mcp_tool_call_begin` of a conversation, once per listener. */
  "codex/event/mcp_tool_call_begin": { params: CodexEventMcpToolCallBeginParams }
  /** The event `mcp_tool_call_end` of a conversation, once per listener. */
  "codex/event/mcp_tool_call_end": { params: CodexEventMcpToolCallEndParams }
  /** The event `web_search_begin` of a conversation, once per listener. */
  "codex/event/web_search_begin": { params: CodexEventWebSearchBeginParams }
  /** The event `web_search_end` of a conversation, once per listener. */
  "codex/event/web_search_end": { params: CodexEventWebSearchEndParams }
  /** The event `exec_command_begin` of a conversation, once per listener. */
  "codex/event/exec_command_begin": { params: CodexEventExecCommandBeginParams }
  /** The event `exec_command_output_delta` of a conversation, once per listener. */
  "codex/event/exec_command_output_delta": { params: CodexEventExecCommandOutputDeltaParams }
  /** The event `exec_command_end` of a conversation, once per listener. */
  "codex/event/exec_command_end": { params: CodexEventExecCommandEndParams }
  /** The event `exec_approval_request` of a conversation, once per listener. */
  "codex/event/exec_approval_request": { params: CodexEventExecApprovalRequestParams }
  /** The event `apply_patch_approval_request` of a conversation, once per listener. */
  "codex/event/apply_patch_approval_request": { params: CodexEventApplyPatchApprovalRequestParams }
  /** The event `background_event` of a conversation, once per listener. */
  "codex/event/background_event": { params: CodexEventBackgroundEventParams }
  /** The event `stream_error` of a conversation, once per listener. */
  "codex/event/stream_error": { params: CodexEventStreamErrorParams }
  /** The event `patch_apply_begin` of a conversation, once per listener. */
  "codex/event/patch_apply_begin": { params: CodexEventPatchApplyBeginParams }
  /** The event `patch_apply_end` of a conversation, once per listener. */
  "codex/event/patch_apply_end": { params: CodexEventPatchApplyEndParams }
  /** The event `turn_diff` of a conversation, once per listener. */
  "codex/event/turn_diff": { params: CodexEventTurnDiffParams }
  /** The event `get_history_entry_response` of a conversation, once per listener. */
  "codex/event/get_history_entry_response": { params: CodexEventGetHistoryEntryResponseParams }
  /** The event `mcp_list_tools_response` of a conversation, once per listener. */
  "codex/event/mcp_list_tools_response": { params: CodexEventMcpListToolsResponseParams }
  /** The event `list_custom_prompts_response` of a conversation, once per listener. */
  "codex/event/list_custom_prompts_response": { params: CodexEventListCustomPromptsResponseParams }
  /** The event `plan_update` of a conversation, once per listener. */
  "codex/event/plan_update": { params: CodexEventPlanUpdateParams }
  /** The event `turn_aborted` of a conversation, once per listener. */
  "codex/event/turn_aborted": { params: CodexEventTurnAbortedParams }
  /** The event `shutdown_complete` of a conversation, once per listener. */
  "codex/event/shutdown_complete": { params: CodexEventShutdownCompleteParams }
  /** The event `conversation_path` of a conversation, once per listener. */
  "codex/event/conversation_path": { params: CodexEventConversationPathParams }
  /** The event `entered_review_mode` of a conversation, once per listener. */
  "codex/event/entered_review_mode": { params: CodexEventEnteredReviewModeParams }
  /** The event `exited_review_mode` of a conversation, once per listener. */
  "codex/event/exited_review_mode": { params: CodexEventExitedReviewModeParams }
  /** The event `raw_response_item` of a conversation, once per listener. */
  "codex/event/raw_response_item": { params: CodexEventRawResponseItemParams }
  /** The event `view_image_tool_call` of a conversation, once per listener. */
  "codex/event/view_image_tool_call": { params: CodexEventViewImageToolCallParams }
  /** The event `warning` of a conversation, once per listener. */
  "codex/event/warning": { params: CodexEventWarningParams }
  /** The event `approval_resolved` of a conversation, once per listener. */
  "codex/event/approval_resolved": { params: CodexEventApprovalResolvedParams }
  /** The event `elicitation_request` of a conversation, once per listener. */
  "codex/event/elicitation_request": { params: CodexEventElicitationRequestParams }
  /** The event `compacted` of a conversation, once per listener. */
  "codex/event/compacted": { params: CodexEventCompactedParams }
  /** A stored conversation was taken up. */
  "sessionConfigured": { params: SessionConfiguredParams }
  /** The listener has been told of everything so far; what follows is new. Comes where `after` was given, and after `conversationLagged`. */
  "conversationSynced": { params: ConversationSyncedParams }
  /** The client read too slowly: pieces of text were lost, the events that are kept follow again from a number on. */
  "conversationLagged": { params: ConversationLaggedParams }
  /** The event with this number is kept in the log and is not sent to this listener, which did not ask for raw events. With it a listener that gave `after` is sent every number once and in order: a number that is missing is lost. */
  "conversationSkipped": { params: ConversationSkippedParams }
  /** Without `reason`: the conversation has ended, because it was archived for example; nothing more is sent to the listener. Sent where `after` was given, and not at the end of the server, since the conversation continues with the next one. With `reason`, sent to every listener: the store failed, the running turn has been stopped and its questions are withdrawn. When the conversation is used again, by any client, the turn gets its terminal event, and the listener is sent it and what follows. */
  "conversationClosed": { params: ConversationClosedParams }
  /** Takes a request back. One of the server's is over without an answer: somebody else gave it, or nobody needs it any more. One of the client's ends and is answered with the error -32800, unless its answer is on its way or it cannot be cancelled; another id is ignored. */
  "$/cancelRequest": { params: CancelRequestParams }
  /** The provider has told other limits than before, in a conversation that somebody listens to. */
  "account/rateLimits/updated": { params: AccountRateLimitsUpdatedParams }
  /** Somebody has logged in or out, by whichever connection; without a method nobody is logged in. */
  "authStatusChange": { params: AuthStatusChangeParams }
  /** A login in the browser that this connection began has ended. */
  "loginChatGptComplete": { params: LoginChatGptCompleteParams }
}
