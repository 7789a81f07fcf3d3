// The dialect app-server-v2. Generated from its definitions: edit those.

export type AskForApprovalParam = "untrusted" | "on-request" | "never" | {
  readonly granular: {
    readonly sandbox_approval: boolean
    readonly rules: boolean
    readonly skill_approval?: boolean | null
    readonly request_permissions?: boolean | null
    readonly mcp_elicitations: boolean
  }
}

export type DynamicTool = {
  readonly type?: "function" | null
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly namespace?: string | null
}

export type Environment = {
  readonly environmentId: string
  readonly cwd: string
  readonly runtimeWorkspaceRoots: ReadonlyArray<string>
}

export type ThreadStatus = {
  readonly type: "notLoaded" | "idle" | "systemError"
} | {
  readonly type: "active"
  readonly activeFlags: ReadonlyArray<"waitingOnApproval" | "waitingOnUserInput">
}

export type UserInput = {
  readonly type: "text"
  readonly text: string
  readonly text_elements: ReadonlyArray<{
    readonly byteRange: {
      readonly start: number
      readonly end: number
    }
    readonly placeholder: string | null
  }>
} | {
  readonly type: "image"
  readonly url: string
  readonly detail: string | null
} | {
  readonly type: "localImage"
  readonly path: string
  readonly detail: string | null
} | {
  readonly type: "skill"
  readonly name: string
  readonly path: string
} | {
  readonly type: "mention"
  readonly name: string
  readonly path: string
}

export type UserMessageItem = {
  readonly type: "userMessage"
  readonly id: string
  readonly clientId: string | null
  readonly content: ReadonlyArray<UserInput>
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type AgentMessageItem = {
  readonly type: "agentMessage"
  readonly id: string
  readonly text: string
  readonly phase: "commentary" | "partial_answer" | "final_answer" | null
  readonly moderation: null
  readonly memoryCitation: null
  readonly delivery: null
  readonly questions: null
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type ReasoningItem = {
  readonly type: "reasoning"
  readonly id: string
  readonly summary: ReadonlyArray<string>
  readonly content: ReadonlyArray<string>
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type PlanItem = {
  readonly type: "plan"
  readonly id: string
  readonly text: string
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type CommandAction = {
  readonly type: "read"
  readonly command: string
  readonly name: string
  readonly path: string
} | {
  readonly type: "listFiles"
  readonly command: string
  readonly path: string | null
} | {
  readonly type: "search"
  readonly command: string
  readonly query: string | null
  readonly path: string | null
} | {
  readonly type: "unknown"
  readonly command: string
}

export type CommandExecutionItem = {
  readonly type: "commandExecution"
  readonly id: string
  readonly command: string
  readonly cwd: string
  readonly processId: string | null
  readonly source: "agent" | "unifiedExecStartup" | "unifiedExecInteraction" | "userShell"
  readonly status: "inProgress" | "completed" | "failed" | "declined"
  readonly commandActions: ReadonlyArray<CommandAction>
  readonly aggregatedOutput: string | null
  readonly exitCode: number | null
  readonly durationMs: number | null
  readonly pluginId: null
  readonly scriptPath: null
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type FileUpdateChange = {
  readonly path: string
  readonly kind: {
    readonly type: "add" | "delete"
  } | {
    readonly type: "update"
    readonly move_path: string | null
  }
  readonly diff: string
}

export type FileChangeItem = {
  readonly type: "fileChange"
  readonly id: string
  readonly changes: ReadonlyArray<FileUpdateChange>
  readonly status: "inProgress" | "completed" | "failed" | "declined"
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type McpToolCallItem = {
  readonly type: "mcpToolCall"
  readonly id: string
  readonly server: string
  readonly tool: string
  readonly status: "inProgress" | "completed" | "failed"
  readonly arguments: unknown
  readonly result: {
    readonly content: ReadonlyArray<unknown>
    readonly structuredContent: unknown
    readonly _meta: unknown
  } | null
  readonly error: {
    readonly message: string
  } | null
  readonly durationMs: number | null
  readonly readOnlyHint: boolean | null
  readonly appContext: null
  readonly mcpAppUi: null
  readonly mcpAppResourceUri?: string
  readonly pluginId: null
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type ToolContent = {
  readonly type: "inputText"
  readonly text: string
} | {
  readonly type: "inputImage"
  readonly imageUrl: string
}

export type DynamicToolCallItem = {
  readonly type: "dynamicToolCall"
  readonly id: string
  readonly namespace: string | null
  readonly tool: string
  readonly arguments: unknown
  readonly status: "inProgress" | "completed" | "failed"
  readonly contentItems: ReadonlyArray<ToolContent> | null
  readonly success: boolean | null
  readonly durationMs: number | null
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type ImageViewItem = {
  readonly type: "imageView"
  readonly id: string
  readonly path: string
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type WebSearchItem = {
  readonly type: "webSearch"
  readonly id: string
  readonly query: string
  readonly action: {
    readonly type: "search"
    readonly query: string | null
    readonly queries: ReadonlyArray<string> | null
  } | {
    readonly type: "openPage"
    readonly url: string | null
  } | {
    readonly type: "findInPage"
    readonly url: string | null
    readonly pattern: string | null
  } | {
    readonly type: "other"
  } | null
  readonly results: null
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type EnteredReviewModeItem = {
  readonly type: "enteredReviewMode"
  readonly id: string
  readonly review: string
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type ExitedReviewModeItem = {
  readonly type: "exitedReviewMode"
  readonly id: string
  readonly review: string
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type ContextCompactionItem = {
  readonly type: "contextCompaction"
  readonly id: string
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
}

export type ThreadItem = UserMessageItem | AgentMessageItem | ReasoningItem | PlanItem | CommandExecutionItem | FileChangeItem | McpToolCallItem | DynamicToolCallItem | ImageViewItem | WebSearchItem | EnteredReviewModeItem | ExitedReviewModeItem | ContextCompactionItem

export type ErrorInfo = "contextWindowExceeded" | "sessionBudgetExceeded" | "usageLimitExceeded" | "rateLimitExceeded" | "serverOverloaded" | "internalServerError" | "unauthorized" | "badRequest" | "threadRollbackFailed" | "sandboxError" | "other" | {
  readonly httpConnectionFailed: {
    readonly httpStatusCode: number | null
  }
} | {
  readonly responseStreamConnectionFailed: {
    readonly httpStatusCode: number | null
  }
} | {
  readonly responseStreamDisconnected: {
    readonly httpStatusCode: number | null
  }
} | {
  readonly responseTooManyFailedAttempts: {
    readonly httpStatusCode: number | null
  }
} | {
  readonly activeTurnNotSteerable: {
    readonly turnKind: "review" | "compact"
  }
}

export type TurnError = {
  readonly message: string
  readonly codexErrorInfo: ErrorInfo | string | Readonly<Record<string, unknown>> | null
  readonly additionalDetails: string | null
  readonly misalignment: null
}

export type Turn = {
  readonly id: string
  readonly rootTurnId: string | null
  readonly items: ReadonlyArray<ThreadItem | {
    readonly type: string
  } & Readonly<Record<string, unknown>>>
  readonly itemsView: "notLoaded" | "summary" | "full"
  readonly status: "inProgress" | "completed" | "interrupted" | "failed" | string | Readonly<Record<string, unknown>>
  readonly error: TurnError | null
  readonly startedAt: number | null
  readonly completedAt: number | null
  readonly durationMs: number | null
}

export type Thread = {
  readonly id: string
  readonly environments: ReadonlyArray<Environment> | null
  readonly extra: null
  readonly sessionId: string
  readonly forkedFromId: string | null
  readonly attachedToThreadId: null
  readonly parentThreadId: null
  readonly preview: string
  readonly ephemeral: boolean
  readonly section: null
  readonly sectionEnteredAt: null
  readonly projectId: null
  readonly historyMode: "paginated" | "legacy" | string | Readonly<Record<string, unknown>>
  readonly modelProvider: string
  readonly model: string | null
  readonly reasoningEffort: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly recencyAt: number | null
  readonly status: ThreadStatus | string | Readonly<Record<string, unknown>>
  readonly path: string | null
  readonly cwd: string
  readonly cliVersion: string
  readonly originator: string | null
  readonly source: string
  readonly canAcceptDirectInput: boolean | null
  readonly threadSource: null
  readonly agentNickname: null
  readonly agentRole: null
  readonly gitInfo: {
    readonly sha: string | null
    readonly branch: string | null
    readonly originUrl: string | null
  } | null
  readonly name: string | null
  readonly daybreakEnabled: null
  readonly turns: ReadonlyArray<Turn>
}

export type AskForApproval = "untrusted" | "on-failure" | "on-request" | "never" | {
  readonly granular: {
    readonly sandbox_approval: boolean
    readonly rules: boolean
    readonly skill_approval?: boolean | null
    readonly request_permissions?: boolean | null
    readonly mcp_elicitations: boolean
  }
}

export type SandboxPolicy = {
  readonly type: "dangerFullAccess"
} | {
  readonly type: "readOnly"
  readonly networkAccess: boolean
} | {
  readonly type: "workspaceWrite"
  readonly writableRoots: ReadonlyArray<string>
  readonly networkAccess: boolean
  readonly excludeTmpdirEnvVar: boolean
  readonly excludeSlashTmp: boolean
} | {
  readonly type: "externalSandbox"
  readonly networkAccess: "restricted" | "enabled"
}

export type CollaborationMode = {
  readonly mode: "plan" | "default"
  readonly settings: {
    readonly model: string
    readonly reasoning_effort: string | null
    readonly developer_instructions: string | null
  }
}

export type ReadState = {
  readonly firstUnread: {
    readonly type: "turn"
    readonly turnId: string
  } | {
    readonly type: "threadStart"
  } | null
  readonly revision: string
}

export type SandboxPolicyParam = {
  readonly type: "dangerFullAccess"
} | {
  readonly type: "readOnly"
  readonly networkAccess?: boolean | null
} | {
  readonly type: "workspaceWrite"
  readonly writableRoots?: ReadonlyArray<string> | null
  readonly networkAccess?: boolean | null
  readonly excludeTmpdirEnvVar?: boolean | null
  readonly excludeSlashTmp?: boolean | null
} | {
  readonly type: "externalSandbox"
  readonly networkAccess?: "restricted" | "enabled" | null
}

export type CollaborationModeParam = {
  readonly mode: "plan" | "default"
  readonly settings: {
    readonly model: string
    readonly reasoning_effort?: string | null
    readonly developer_instructions?: string | null
  }
}

export type UserInputParam = {
  readonly type: "text"
  readonly text: string
  readonly text_elements?: ReadonlyArray<{
    readonly byteRange: {
      readonly start: number
      readonly end: number
    }
    readonly placeholder?: string | null
  }> | null
} | {
  readonly type: "image"
  readonly url: string
  readonly detail?: string | null
} | {
  readonly type: "localImage"
  readonly path: string
  readonly detail?: string | null
} | {
  readonly type: "skill"
  readonly name: string
  readonly path: string
} | {
  readonly type: "mention"
  readonly name: string
  readonly path: string
}

export type QueuedSubmission = {
  readonly id: string
  readonly input: ReadonlyArray<UserInput>
  readonly clientUserMessageId: string | null
  readonly responsesapiClientMetadata: null
}

export type RateLimitSnapshot = {
  readonly limitId: string | null
  readonly limitName: string | null
  readonly normalModelSlug: string | null
  readonly primary: {
    readonly usedPercent: number
    readonly windowDurationMins: number | null
    readonly resetsAt: number | null
  } | null
  readonly secondary: {
    readonly usedPercent: number
    readonly windowDurationMins: number | null
    readonly resetsAt: number | null
  } | null
  readonly credits: Readonly<Record<string, unknown>> | null
  readonly individualLimit: Readonly<Record<string, unknown>> | null
  readonly spendControlReached: boolean | null
  readonly planType: string | null
  readonly rateLimitReachedType: string | null
}

export type Model = {
  readonly id: string
  readonly model: string
  readonly upgrade: string | null
  readonly upgradeInfo: Readonly<Record<string, unknown>> | null
  readonly availabilityNux: {
    readonly message: string
  } | null
  readonly displayName: string
  readonly description: string
  readonly modelSpecialty: string | null
  readonly hidden: boolean
  readonly supportedReasoningEfforts: ReadonlyArray<{
    readonly reasoningEffort: string
    readonly description: string
  }>
  readonly defaultReasoningEffort: string
  readonly inputModalities: ReadonlyArray<string>
  readonly supportsPersonality: boolean
  readonly multiAgentVersion: string | null
  readonly additionalSpeedTiers: ReadonlyArray<string>
  readonly serviceTiers: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly description: string
  }>
  readonly defaultServiceTier: string | null
  readonly availableAccessPrograms: null
  readonly isDefault: boolean
}

export type Skill = {
  readonly name: string
  readonly description: string
  readonly shortDescription?: string
  readonly interface?: {
    readonly displayName: string | null
    readonly shortDescription: string | null
    readonly iconSmall: string | null
    readonly iconLarge: string | null
    readonly iconSmallUrl: string | null
    readonly iconLargeUrl: string | null
    readonly brandColor: string | null
    readonly defaultPrompt: string | null
  }
  readonly dependencies?: Readonly<Record<string, unknown>>
  readonly path: string
  readonly scope: "system" | "user" | "repo" | "admin"
  readonly enabled: boolean
  readonly pluginId: null
}

export type McpServerStatus = {
  readonly name: string
  readonly runtimeStatus: string | null
  readonly serverInfo: Readonly<Record<string, unknown>> | null
  readonly tools: Readonly<Record<string, unknown>>
  readonly toolsError: string | null
  readonly resources: ReadonlyArray<unknown>
  readonly resourceTemplates: ReadonlyArray<unknown>
  readonly authStatus: "unsupported" | "notLoggedIn" | "bearerToken" | "oAuth"
}

export type FoundFile = {
  readonly root: string
  readonly path: string
  readonly match_type: "file" | "directory"
  readonly file_name: string
  readonly score: number
  readonly indices: ReadonlyArray<number> | null
}

export type ThreadSettings = {
  readonly disabledPluginIds: ReadonlyArray<string>
  readonly cwd: string
  readonly environments: ReadonlyArray<Environment>
  readonly approvalPolicy: AskForApproval | string | Readonly<Record<string, unknown>>
  readonly approvalsReviewer: "user" | string | Readonly<Record<string, unknown>>
  readonly sandboxPolicy: SandboxPolicy | string | Readonly<Record<string, unknown>>
  readonly activePermissionProfile: {
    readonly id: string
    readonly extends: string | null
  } | null
  readonly model: string
  readonly modelProvider: string
  readonly serviceTier: string | null
  readonly effort: string | null
  readonly summary: "auto" | "concise" | "detailed" | "none" | null
  readonly collaborationMode: CollaborationMode
  readonly multiAgentMode: "explicitRequestOnly" | string | Readonly<Record<string, unknown>>
  readonly personality: "none" | "friendly" | "pragmatic" | null
}

export type TokenCounts = {
  readonly totalTokens: number
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteInputTokens: number
  readonly outputTokens: number
  readonly reasoningOutputTokens: number
}

export type TokenUsage = {
  readonly total: TokenCounts
  readonly last: TokenCounts
  readonly modelContextWindow: number | null
}

export type RawIntegerEncoded = number

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
  readonly codexHome: string
  readonly platformFamily: string
  readonly platformOs: string
}

/** Creates a thread and subscribes to it. Nothing of it is listed before its first turn. */
export type ThreadStartParams = {
  readonly model?: string | null
  readonly modelProvider?: string | null
  readonly cwd?: string | null
  readonly approvalPolicy?: AskForApprovalParam | null
  readonly approvalsReviewer?: "user" | "auto_review" | "guardian_subagent" | null
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access" | null
  readonly config?: Readonly<Record<string, unknown>> | null
  readonly baseInstructions?: string | null
  readonly developerInstructions?: string | null
  readonly personality?: "none" | "friendly" | "pragmatic" | null
  readonly serviceTier?: string | null
  readonly permissions?: string | null
  readonly runtimeWorkspaceRoots?: ReadonlyArray<string> | null
  readonly ephemeral?: boolean | null
  readonly serviceName?: string | null
  readonly sessionStartSource?: string | null
  readonly threadSource?: unknown
  readonly projectId?: string | null
  readonly historyMode?: "paginated" | "legacy" | null
  readonly environments?: ReadonlyArray<unknown> | null
  readonly dynamicTools?: ReadonlyArray<DynamicTool> | null
  readonly multiAgentMode?: string | null
  readonly experimentalRawEvents?: boolean | null
}

export type ThreadStartResult = {
  readonly thread: Thread
  readonly model: string
  readonly modelProvider: string
  readonly serviceTier: string | null
  readonly disabledPluginIds: ReadonlyArray<string>
  readonly cwd: string
  readonly runtimeWorkspaceRoots: ReadonlyArray<string>
  readonly instructionSources: ReadonlyArray<string>
  readonly approvalPolicy: AskForApproval | string | Readonly<Record<string, unknown>>
  readonly approvalsReviewer: "user" | string | Readonly<Record<string, unknown>>
  readonly sandbox: SandboxPolicy | string | Readonly<Record<string, unknown>>
  readonly activePermissionProfile: {
    readonly id: string
    readonly extends: string | null
  } | null
  readonly reasoningEffort: string | null
  readonly multiAgentMode: "explicitRequestOnly" | string | Readonly<Record<string, unknown>>
}

/** Subscribes to a thread, loads it if needed, and applies the given settings to its next turns. A running turn is in the result with its finished items; pending questions follow the response. */
export type ThreadResumeParams = {
  readonly threadId: string
  readonly model?: string | null
  readonly modelProvider?: string | null
  readonly cwd?: string | null
  readonly approvalPolicy?: AskForApprovalParam | null
  readonly approvalsReviewer?: "user" | "auto_review" | "guardian_subagent" | null
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access" | null
  readonly config?: Readonly<Record<string, unknown>> | null
  readonly baseInstructions?: string | null
  readonly developerInstructions?: string | null
  readonly personality?: "none" | "friendly" | "pragmatic" | null
  readonly serviceTier?: string | null
  readonly permissions?: string | null
  readonly runtimeWorkspaceRoots?: ReadonlyArray<string> | null
  readonly excludeTurns?: boolean | null
  readonly initialTurnsPage?: {
    readonly limit?: number | null
    readonly sortDirection?: "asc" | "desc" | null
    readonly itemsView?: "notLoaded" | "summary" | "full" | null
  } | null
  readonly history?: ReadonlyArray<Readonly<Record<string, unknown>>> | null
  readonly path?: string | null
}

export type ThreadResumeResult = {
  readonly thread: Thread
  readonly model: string
  readonly modelProvider: string
  readonly serviceTier: string | null
  readonly disabledPluginIds: ReadonlyArray<string>
  readonly cwd: string
  readonly runtimeWorkspaceRoots: ReadonlyArray<string>
  readonly instructionSources: ReadonlyArray<string>
  readonly approvalPolicy: AskForApproval | string | Readonly<Record<string, unknown>>
  readonly approvalsReviewer: "user" | string | Readonly<Record<string, unknown>>
  readonly sandbox: SandboxPolicy | string | Readonly<Record<string, unknown>>
  readonly activePermissionProfile: {
    readonly id: string
    readonly extends: string | null
  } | null
  readonly reasoningEffort: string | null
  readonly multiAgentMode: "explicitRequestOnly" | string | Readonly<Record<string, unknown>>
  readonly collaborationMode: CollaborationMode | null
  readonly initialTurnsPage: {
    readonly data: ReadonlyArray<Turn>
    readonly nextCursor: string | null
    readonly backwardsCursor: string | null
  } | null
  readonly turnsBackwardsCursor: string | null
  readonly itemsBackwardsCursor: string | null
}

/** Creates a thread with the ended turns of another one, by default all of them, and subscribes to it. A turn that still runs goes on there, and the copy has no part of it. */
export type ThreadForkParams = {
  readonly threadId: string
  readonly lastTurnId?: string | null
  readonly beforeTurnId?: string | null
  readonly model?: string | null
  readonly modelProvider?: string | null
  readonly cwd?: string | null
  readonly approvalPolicy?: AskForApprovalParam | null
  readonly approvalsReviewer?: "user" | "auto_review" | "guardian_subagent" | null
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access" | null
  readonly config?: Readonly<Record<string, unknown>> | null
  readonly baseInstructions?: string | null
  readonly developerInstructions?: string | null
  readonly personality?: "none" | "friendly" | "pragmatic" | null
  readonly serviceTier?: string | null
  readonly permissions?: string | null
  readonly runtimeWorkspaceRoots?: ReadonlyArray<string> | null
  readonly ephemeral?: boolean | null
  readonly excludeTurns?: boolean | null
  readonly threadSource?: unknown
  readonly path?: string | null
}

export type ThreadForkResult = {
  readonly thread: Thread
  readonly model: string
  readonly modelProvider: string
  readonly serviceTier: string | null
  readonly disabledPluginIds: ReadonlyArray<string>
  readonly cwd: string
  readonly runtimeWorkspaceRoots: ReadonlyArray<string>
  readonly instructionSources: ReadonlyArray<string>
  readonly approvalPolicy: AskForApproval | string | Readonly<Record<string, unknown>>
  readonly approvalsReviewer: "user" | string | Readonly<Record<string, unknown>>
  readonly sandbox: SandboxPolicy | string | Readonly<Record<string, unknown>>
  readonly activePermissionProfile: {
    readonly id: string
    readonly extends: string | null
  } | null
  readonly reasoningEffort: string | null
  readonly multiAgentMode: "explicitRequestOnly" | string | Readonly<Record<string, unknown>>
}

/** Reads a thread, with its turns if asked for. Loads nothing. */
export type ThreadReadParams = {
  readonly threadId: string
  readonly includeTurns?: boolean | null
}

export type ThreadReadResult = {
  readonly thread: Thread
  readonly readState: ReadState | null
}

/** Lists the stored threads that have a user message, in pages. */
export type ThreadListParams = {
  readonly cursor?: string | null
  readonly limit?: number | null
  readonly sortKey?: "created_at" | "updated_at" | "recency_at" | "section_position" | null
  readonly sortDirection?: "asc" | "desc" | null
  readonly modelProviders?: ReadonlyArray<string> | null
  readonly sourceKinds?: ReadonlyArray<"cli" | "vscode" | "exec" | "appServer" | "subAgent" | "subAgentReview" | "subAgentCompact" | "subAgentThreadSpawn" | "subAgentOther" | "unknown"> | null
  readonly archived?: boolean | null
  readonly cwd?: string | ReadonlyArray<string> | null
  readonly searchTerm?: string | null
  readonly excludedThreadIds?: ReadonlyArray<string> | null
  readonly useStateDbOnly?: boolean | null
  readonly currentAccountOnly?: boolean | null
  readonly originators?: ReadonlyArray<string> | null
  readonly sectionId?: string | null
  readonly projectId?: string | null
  readonly parentThreadId?: string | null
}

export type ThreadListResult = {
  readonly data: ReadonlyArray<Thread>
  readonly readStates: Readonly<Record<string, ReadState>> | null
  readonly nextCursor: string | null
  readonly backwardsCursor: string | null
}

/** Lists the turns of a thread in pages, by default newest first and each with its first user message and its last agent message. Loads nothing. */
export type ThreadTurnsListParams = {
  readonly threadId: string
  readonly cursor?: string | null
  readonly limit?: number | null
  readonly sortDirection?: "asc" | "desc" | null
  readonly itemsView?: "notLoaded" | "summary" | "full" | null
}

export type ThreadTurnsListResult = {
  readonly data: ReadonlyArray<Turn>
  readonly nextCursor: string | null
  readonly backwardsCursor: string | null
}

/** Lists the items of a thread, or of one turn, in pages. Loads nothing. */
export type ThreadItemsListParams = {
  readonly threadId: string
  readonly turnId?: string | null
  readonly cursor?: string | null
  readonly limit?: number | null
  readonly sortDirection?: "asc" | "desc" | null
}

export type ThreadItemsListResult = {
  readonly data: ReadonlyArray<{
    readonly turnId: string
    readonly item: ThreadItem | {
      readonly type: string
    } & Readonly<Record<string, unknown>>
    readonly startedAtMs: number | null
    readonly completedAtMs: number | null
  }>
  readonly nextCursor: string | null
  readonly backwardsCursor: string | null
}

/** Lists the ids of the threads that were started, forked or resumed since the server started and not archived or deleted since, ephemeral ones included; the last 10,000 at most. Such a thread may have left memory: it is loaded again when it is used. */
export type ThreadLoadedListParams = {
  readonly cursor?: string | null
  readonly limit?: number | null
}

export type ThreadLoadedListResult = {
  readonly data: ReadonlyArray<string>
  readonly nextCursor: string | null
}

/** Names a thread. Every connection is notified. */
export type ThreadNameSetParams = {
  readonly threadId: string
  readonly name: string
}

export type ThreadNameSetResult = Readonly<Record<string, unknown>>

/** Interrupts the running turn, ends the thread and archives it. Every connection is notified. */
export type ThreadArchiveParams = {
  readonly threadId: string
}

export type ThreadArchiveResult = Readonly<Record<string, unknown>>

/** Makes an archived thread listed again. Loads nothing. */
export type ThreadUnarchiveParams = {
  readonly threadId: string
}

export type ThreadUnarchiveResult = {
  readonly thread: Thread
}

/** Interrupts the running turn, ends the thread and deletes it, archived or not. Every connection is notified. */
export type ThreadDeleteParams = {
  readonly threadId: string
}

export type ThreadDeleteResult = Readonly<Record<string, unknown>>

/** Ends the subscription of this connection. A running turn goes on. */
export type ThreadUnsubscribeParams = {
  readonly threadId: string
}

export type ThreadUnsubscribeResult = {
  readonly status: "unsubscribed" | "notSubscribed" | "notLoaded"
}

/** Starts a turn that replaces the history by a summary of it. */
export type ThreadCompactStartParams = {
  readonly threadId: string
}

export type ThreadCompactStartResult = Readonly<Record<string, unknown>>

/** Interrupts the running turn and drops this turn and all later ones. */
export type ThreadRevertParams = {
  readonly threadId: string
  readonly beforeTurnId: string
}

export type ThreadRevertResult = {
  readonly thread: Thread
  readonly turnsBackwardsCursor: string | null
  readonly itemsBackwardsCursor: string | null
}

/** Runs a command of the user in the user's shell and the directory of the thread, under its sandbox policy, as a turn of its own. Refused while a turn runs. The model reads the command and its output with the next turn. */
export type ThreadShellCommandParams = {
  readonly threadId: string
  readonly command: string
}

export type ThreadShellCommandResult = Readonly<Record<string, unknown>>

/** Changes settings of later turns. Subscribers are notified of what changed. */
export type ThreadSettingsUpdateParams = {
  readonly threadId: string
  readonly cwd?: string | null
  readonly approvalPolicy?: AskForApprovalParam | null
  readonly approvalsReviewer?: "user" | "auto_review" | "guardian_subagent" | null
  readonly sandboxPolicy?: SandboxPolicyParam | null
  readonly model?: string | null
  readonly serviceTier?: string | null
  readonly effort?: string | null
  readonly summary?: "auto" | "concise" | "detailed" | "none" | null
  readonly personality?: "none" | "friendly" | "pragmatic" | null
  readonly permissions?: string | null
  readonly collaborationMode?: CollaborationModeParam | null
  readonly runtimeWorkspaceRoots?: ReadonlyArray<string> | null
}

export type ThreadSettingsUpdateResult = Readonly<Record<string, unknown>>

/** Marks a thread as read or unread. Subscribers are notified before the response. */
export type ThreadReadStateUpdateParams = {
  readonly threadId: string
  readonly operation: {
    readonly type: "read" | "unread"
  }
  readonly expectedRevision: string
}

export type ThreadReadStateUpdateResult = {
  readonly readState: ReadState
}

/** Queues input, which starts a turn by itself after the running one. */
export type ThreadQueueAddParams = {
  readonly threadId: string
  readonly input: ReadonlyArray<UserInputParam>
  readonly clientUserMessageId?: string | null
}

export type ThreadQueueAddResult = {
  readonly queuedSubmission: QueuedSubmission
}

/** Lists the queued input, oldest first. */
export type ThreadQueueListParams = {
  readonly threadId: string
  readonly cursor?: string | null
  readonly limit?: number | null
}

export type ThreadQueueListResult = {
  readonly data: ReadonlyArray<QueuedSubmission>
  readonly nextCursor: string | null
}

/** Replaces queued input; it keeps its place. */
export type ThreadQueueUpdateParams = {
  readonly threadId: string
  readonly queuedSubmissionId: string
  readonly input: ReadonlyArray<UserInputParam>
}

export type ThreadQueueUpdateResult = {
  readonly queuedSubmission: QueuedSubmission
}

/** Removes queued input. */
export type ThreadQueueDeleteParams = {
  readonly threadId: string
  readonly queuedSubmissionId: string
}

export type ThreadQueueDeleteResult = {
  readonly deleted: boolean
}

/** Changes the order of the queued input. */
export type ThreadQueueReorderParams = {
  readonly threadId: string
  readonly queuedSubmissionIds: ReadonlyArray<string>
}

export type ThreadQueueReorderResult = Readonly<Record<string, unknown>>

/** Starts a turn with queued input now. An error while a turn runs. */
export type ThreadQueueStartParams = {
  readonly threadId: string
  readonly queuedSubmissionId?: string | null
}

export type ThreadQueueStartResult = {
  readonly turn: Turn
}

/** Starts a turn, with settings that also apply to later ones. While a turn runs, the input joins it, and the result has the id of that turn. */
export type TurnStartParams = {
  readonly threadId: string
  readonly input: ReadonlyArray<UserInputParam>
  readonly clientUserMessageId?: string | null
  readonly cwd?: string | null
  readonly approvalPolicy?: AskForApprovalParam | null
  readonly approvalsReviewer?: "user" | "auto_review" | "guardian_subagent" | null
  readonly sandboxPolicy?: SandboxPolicyParam | null
  readonly model?: string | null
  readonly serviceTier?: string | null
  readonly effort?: string | null
  readonly summary?: "auto" | "concise" | "detailed" | "none" | null
  readonly personality?: "none" | "friendly" | "pragmatic" | null
  readonly permissions?: string | null
  readonly collaborationMode?: CollaborationModeParam | null
  readonly runtimeWorkspaceRoots?: ReadonlyArray<string> | null
  readonly outputSchema?: unknown
  readonly serviceTierForTurn?: string | null
  readonly environments?: ReadonlyArray<unknown> | null
  readonly additionalContext?: Readonly<Record<string, unknown>> | null
}

export type TurnStartResult = {
  readonly turn: Turn
}

/** Adds input to the running turn, which must be the expected one. */
export type TurnSteerParams = {
  readonly threadId: string
  readonly input: ReadonlyArray<UserInputParam>
  readonly expectedTurnId: string
  readonly clientUserMessageId?: string | null
}

export type TurnSteerResult = {
  readonly turnId: string
}

/** Interrupts a turn, from the response to `turn/start` on. Its items complete, and `turn/completed` follows. */
export type TurnInterruptParams = {
  readonly threadId: string
  readonly turnId: string
}

export type TurnInterruptResult = Readonly<Record<string, unknown>>

/** Starts a turn that reviews changes of the workspace. It can be interrupted by the id of the result. */
export type ReviewStartParams = {
  readonly threadId: string
  readonly target: {
    readonly type: "uncommittedChanges"
  } | {
    readonly type: "baseBranch"
    readonly branch: string
  } | {
    readonly type: "commit"
    readonly sha: string
    readonly title?: string | null
  } | {
    readonly type: "custom"
    readonly instructions: string
  }
  readonly delivery?: "inline" | null
}

export type ReviewStartResult = {
  readonly turn: Turn
  readonly reviewThreadId: string
}

/** Reports the account that the provider in use needs, if any. */
export type AccountReadParams = {
  readonly refreshToken?: boolean | null
}

export type AccountReadResult = {
  readonly account: {
    readonly type: "apiKey"
  } | {
    readonly type: "chatgpt"
    readonly email: string | null
    readonly planType: string
    readonly workspaceName: string | null
  } | {
    readonly type: "amazonBedrock"
  } | null
  readonly userId: string | null
  readonly requiresOpenaiAuth: boolean
  readonly workspaceRouting: null
}

/** Stores an API key, or starts a login in the browser or by a code. `account/login/completed` reports the end of the login. */
export type AccountLoginStartParams = {
  readonly type: "apiKey"
  readonly apiKey: string
} | {
  readonly type: "chatgpt"
  readonly codexStreamlinedLogin?: boolean | null
} | {
  readonly type: "chatgptDeviceCode"
}

export type AccountLoginStartResult = {
  readonly type: "apiKey"
} | {
  readonly type: "chatgpt"
  readonly loginId: string
  readonly authUrl: string
} | {
  readonly type: "chatgptDeviceCode"
  readonly loginId: string
  readonly verificationUrl: string
  readonly userCode: string
}

/** Cancels a login that is in progress. */
export type AccountLoginCancelParams = {
  readonly loginId: string
}

export type AccountLoginCancelResult = {
  readonly status: "canceled" | "notFound"
}

export type AccountLogoutResult = Readonly<Record<string, unknown>>

export type AccountRateLimitsReadResult = {
  readonly rateLimits: RateLimitSnapshot
  readonly rateLimitsByLimitId: Readonly<Record<string, RateLimitSnapshot>> | null
}

/** Reports whether Amazon Bedrock is used in a region of the government. This program has no such provider. */
export type AccountBedrockCheckGovCloudRequirementsParams = Readonly<Record<string, unknown>>

export type AccountBedrockCheckGovCloudRequirementsResult = {
  readonly isGovCloud: boolean
  readonly shouldWarn: boolean
}

/** Reports the authentication method in use; it is null when there are no credentials. */
export type GetAuthStatusParams = {
  readonly includeToken?: boolean | null
  readonly refreshToken?: boolean | null
}

export type GetAuthStatusResult = {
  readonly authMethod: string | null
  readonly authToken: string | null
  readonly requiresOpenaiAuth: boolean | null
}

/** Lists the known models of a provider, by default of the active one, in pages. */
export type ModelListParams = {
  readonly modelProvider?: string | null
  readonly cursor?: string | null
  readonly limit?: number | null
  readonly includeHidden?: boolean | null
}

export type ModelListResult = {
  readonly data: ReadonlyArray<Model>
  readonly nextCursor: string | null
}

/** Lists the modes in which the agent can work with the user. */
export type CollaborationModeListParams = Readonly<Record<string, unknown>>

export type CollaborationModeListResult = {
  readonly data: ReadonlyArray<{
    readonly name: string
    readonly mode: "plan" | "default"
    readonly model: string | null
    readonly reasoning_effort: string | null
  }>
}

/** Lists the sets of permissions that threads and turns can be given. */
export type PermissionProfileListParams = {
  readonly cwd?: string | null
  readonly cursor?: string | null
  readonly limit?: number | null
}

export type PermissionProfileListResult = {
  readonly data: ReadonlyArray<{
    readonly id: string
    readonly description: string | null
    readonly allowed: boolean
  }>
  readonly nextCursor: string | null
}

/** Reads the configuration in effect, and where each value comes from. */
export type ConfigReadParams = {
  readonly includeLayers?: boolean | null
  readonly cwd?: string | null
}

export type ConfigReadResult = {
  readonly config: Readonly<Record<string, unknown>>
  readonly origins: Readonly<Record<string, {
    readonly name: {
      readonly type: string
    } & Readonly<Record<string, unknown>>
    readonly version: string
  }>>
  readonly layers?: ReadonlyArray<{
    readonly name: {
      readonly type: string
    } & Readonly<Record<string, unknown>>
    readonly version: string
    readonly config: unknown
    readonly disabledReason?: string
  }>
}

/** Writes one value to config.toml. Threads that are loaded keep their settings. */
export type ConfigValueWriteParams = {
  readonly keyPath: string
  readonly value: unknown
  readonly mergeStrategy: "replace" | "upsert"
  readonly filePath?: string | null
  readonly expectedVersion?: string | null
}

export type ConfigValueWriteResult = {
  readonly status: "ok" | "okOverridden"
  readonly version: string
  readonly filePath: string
  readonly overriddenMetadata: {
    readonly message: string
    readonly overridingLayer: {
      readonly name: {
        readonly type: string
      } & Readonly<Record<string, unknown>>
      readonly version: string
    }
    readonly effectiveValue: unknown
  } | null
}

/** Writes several values to config.toml, all or none. */
export type ConfigBatchWriteParams = {
  readonly edits: ReadonlyArray<{
    readonly keyPath: string
    readonly value: unknown
    readonly mergeStrategy: "replace" | "upsert"
  }>
  readonly filePath?: string | null
  readonly expectedVersion?: string | null
  readonly reloadUserConfig?: boolean | null
}

export type ConfigBatchWriteResult = {
  readonly status: "ok" | "okOverridden"
  readonly version: string
  readonly filePath: string
  readonly overriddenMetadata: {
    readonly message: string
    readonly overridingLayer: {
      readonly name: {
        readonly type: string
      } & Readonly<Record<string, unknown>>
      readonly version: string
    }
    readonly effectiveValue: unknown
  } | null
}

export type ConfigRequirementsReadResult = {
  readonly supportsIndependentSpeedModes: boolean | null
  readonly requirements: Readonly<Record<string, unknown>> | null
}

/** Lists the skills that the agent has in each directory. */
export type SkillsListParams = {
  readonly cwds?: ReadonlyArray<string> | null
  readonly forceReload?: boolean | null
}

export type SkillsListResult = {
  readonly data: ReadonlyArray<{
    readonly cwd: string
    readonly skills: ReadonlyArray<Skill>
    readonly errors: ReadonlyArray<{
      readonly path: string
      readonly message: string
    }>
  }>
}

/** Lists the hooks of each directory. This program has none. */
export type HooksListParams = {
  readonly cwds?: ReadonlyArray<string> | null
}

export type HooksListResult = {
  readonly data: ReadonlyArray<{
    readonly cwd: string
    readonly hooks: ReadonlyArray<Readonly<Record<string, unknown>>>
    readonly warnings: ReadonlyArray<string>
    readonly errors: ReadonlyArray<{
      readonly path: string
      readonly message: string
    }>
  }>
}

/** Lists the installed plugins. This program has none. */
export type PluginInstalledParams = {
  readonly cwds?: ReadonlyArray<string> | null
}

export type PluginInstalledResult = {
  readonly marketplaces: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly marketplaceLoadErrors: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** Lists the MCP servers that the agent uses, with their tools. */
export type McpServerStatusListParams = {
  readonly cursor?: string | null
  readonly limit?: number | null
  readonly detail?: "full" | "toolsAndAuthOnly" | null
  readonly threadId?: string | null
}

export type McpServerStatusListResult = {
  readonly data: ReadonlyArray<McpServerStatus>
  readonly nextCursor: string | null
}

/** Calls a tool of an MCP server of a loaded thread, for the client: the model does not see it. */
export type McpServerToolCallParams = {
  readonly threadId: string
  readonly server: string
  readonly tool: string
  readonly arguments?: unknown
  readonly _meta?: unknown
}

export type McpServerToolCallResult = {
  readonly content: ReadonlyArray<unknown>
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: unknown
}

/** Reads a resource of an MCP server. */
export type McpServerResourceReadParams = {
  readonly threadId?: string | null
  readonly server: string
  readonly uri: string
  readonly _meta?: Readonly<Record<string, unknown>> | null
}

export type McpServerResourceReadResult = {
  readonly contents: ReadonlyArray<unknown>
}

/** Runs a command, given by its words, in the configured sandbox, without an approval. Responds when the command has ended and all its output was notified. */
export type CommandExecParams = {
  readonly command: ReadonlyArray<string>
  readonly processId?: string | null
  readonly tty?: boolean | null
  readonly streamStdin?: boolean | null
  readonly streamStdoutStderr?: boolean | null
  readonly outputBytesCap?: number | null
  readonly disableOutputCap?: boolean | null
  readonly disableTimeout?: boolean | null
  readonly timeoutMs?: number | null
  readonly cwd?: string | null
  readonly env?: Readonly<Record<string, string | null>> | null
  readonly size?: {
    readonly rows: number
    readonly cols: number
  } | null
  readonly sandboxPolicy?: SandboxPolicyParam | null
  readonly permissionProfile?: string | null
}

export type CommandExecResult = {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Writes to the standard input of a command of this connection, or closes it. */
export type CommandExecWriteParams = {
  readonly processId: string
  readonly deltaBase64?: string | null
  readonly closeStdin?: boolean | null
}

export type CommandExecWriteResult = Readonly<Record<string, unknown>>

/** Changes the size of the terminal of a command of this connection. */
export type CommandExecResizeParams = {
  readonly processId: string
  readonly size: {
    readonly rows: number
    readonly cols: number
  }
}

export type CommandExecResizeResult = Readonly<Record<string, unknown>>

/** Ends a command of this connection. */
export type CommandExecTerminateParams = {
  readonly processId: string
}

export type CommandExecTerminateResult = Readonly<Record<string, unknown>>

/** Searches the files below the roots by a query that may leave characters out. Best matches come first. */
export type FuzzyFileSearchParams = {
  readonly query: string
  readonly roots: ReadonlyArray<string>
  readonly cancellationToken?: string | null
}

export type FuzzyFileSearchResult = {
  readonly files: ReadonlyArray<FoundFile>
}

/** Starts a session: the files below the roots are listed once and searched with every query. */
export type FuzzyFileSearchSessionStartParams = {
  readonly sessionId: string
  readonly roots: ReadonlyArray<string>
}

export type FuzzyFileSearchSessionStartResult = Readonly<Record<string, unknown>>

/** Searches the files of a session. The results are notified as they are found. */
export type FuzzyFileSearchSessionUpdateParams = {
  readonly sessionId: string
  readonly query: string
}

export type FuzzyFileSearchSessionUpdateResult = Readonly<Record<string, unknown>>

/** Ends a session. */
export type FuzzyFileSearchSessionStopParams = {
  readonly sessionId: string
}

export type FuzzyFileSearchSessionStopResult = Readonly<Record<string, unknown>>

/** Reports the nearest commit that exists on a remote, and the diff of the working tree against it, including new files. */
export type GitDiffToRemoteParams = {
  readonly cwd: string
}

export type GitDiffToRemoteResult = {
  readonly sha: string
  readonly diff: string
}

/** Reads a file. */
export type FsReadFileParams = {
  readonly path: string
}

export type FsReadFileResult = {
  readonly dataBase64: string
}

/** Writes a file, replacing one that exists. */
export type FsWriteFileParams = {
  readonly path: string
  readonly dataBase64: string
}

export type FsWriteFileResult = Readonly<Record<string, unknown>>

/** Describes a file or directory. Symbolic links are followed, except for `isSymlink`. */
export type FsGetMetadataParams = {
  readonly path: string
}

export type FsGetMetadataResult = {
  readonly isDirectory: boolean
  readonly isFile: boolean
  readonly isSymlink: boolean
  readonly size: number
  readonly createdAtMs: number
  readonly modifiedAtMs: number
}

/** Lists the entries of a directory. */
export type FsReadDirectoryParams = {
  readonly path: string
}

export type FsReadDirectoryResult = {
  readonly entries: ReadonlyArray<{
    readonly fileName: string
    readonly isDirectory: boolean
    readonly isFile: boolean
  }>
}

/** Creates a directory. */
export type FsCreateDirectoryParams = {
  readonly path: string
  readonly recursive?: boolean | null
}

export type FsCreateDirectoryResult = Readonly<Record<string, unknown>>

/** Copies a file or a directory. */
export type FsCopyParams = {
  readonly sourcePath: string
  readonly destinationPath: string
  readonly recursive?: boolean | null
}

export type FsCopyResult = Readonly<Record<string, unknown>>

/** Removes a file or a directory. */
export type FsRemoveParams = {
  readonly path: string
  readonly recursive?: boolean | null
  readonly force?: boolean | null
}

export type FsRemoveResult = Readonly<Record<string, unknown>>

/** Notifies this connection of changes of a file, or of the entries of a directory. */
export type FsWatchParams = {
  readonly watchId: string
  readonly path: string
}

export type FsWatchResult = {
  readonly path: string
}

/** Ends a watch of this connection. */
export type FsUnwatchParams = {
  readonly watchId: string
}

export type FsUnwatchResult = Readonly<Record<string, unknown>>

/** Summarises a stored thread: what `thread/list` reports of it, in an older form. */
export type GetConversationSummaryParams = {
  readonly conversationId: string
} | {
  readonly rolloutPath: string
}

export type GetConversationSummaryResult = {
  readonly summary: {
    readonly conversationId: string
    readonly path: string
    readonly preview: string
    readonly timestamp: string | null
    readonly updatedAt: string | null
    readonly modelProvider: string
    readonly cwd: string
    readonly cliVersion: string
    readonly source: string
    readonly gitInfo: {
      readonly sha: string | null
      readonly branch: string | null
      readonly origin_url: string | null
    } | null
  }
}

/** Asks whether a command may run. */
export type ItemCommandExecutionRequestApprovalParams = {
  readonly kind: "command" | "humanCommand" | "writeStdin"
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly startedAtMs: number
  readonly environmentId: string | null
  readonly reason?: string
  readonly command?: string
  readonly cwd?: string
  readonly commandActions?: ReadonlyArray<CommandAction>
  readonly proposedExecpolicyAmendment?: ReadonlyArray<string>
  readonly availableDecisions?: ReadonlyArray<"accept" | "acceptForSession" | "decline" | "cancel" | {
    readonly acceptWithExecpolicyAmendment: {
      readonly execpolicy_amendment: ReadonlyArray<string>
    }
  } | {
    readonly applyNetworkPolicyAmendment: {
      readonly network_policy_amendment: {
        readonly host: string
        readonly action: string
      }
    }
  }>
  readonly approvalId?: string
}

export type ItemCommandExecutionRequestApprovalResult = {
  readonly decision: "accept" | "acceptForSession" | "decline" | "cancel" | {
    readonly acceptWithExecpolicyAmendment: {
      readonly execpolicy_amendment: ReadonlyArray<string>
    }
  } | {
    readonly applyNetworkPolicyAmendment: {
      readonly network_policy_amendment: {
        readonly host: string
        readonly action: string
      }
    }
  }
}

/** Asks whether a patch may be applied; its changes are in the item. */
export type ItemFileChangeRequestApprovalParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly startedAtMs: number
  readonly reason: string | null
  readonly grantRoot: string | null
}

export type ItemFileChangeRequestApprovalResult = {
  readonly decision: "accept" | "acceptForSession" | "decline" | "cancel"
}

/** Asks for more permissions than the sandbox gives. What the result leaves out is not granted. */
export type ItemPermissionsRequestApprovalParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly environmentId: string | null
  readonly startedAtMs: number
  readonly cwd: string
  readonly reason: string | null
  readonly permissions: {
    readonly network: {
      readonly enabled: boolean | null
    } | null
    readonly fileSystem: {
      readonly read: ReadonlyArray<string> | null
      readonly write: ReadonlyArray<string> | null
      readonly entries?: ReadonlyArray<unknown>
    } | null
  }
}

export type ItemPermissionsRequestApprovalResult = {
  readonly permissions: {
    readonly network?: {
      readonly enabled?: boolean | null
    } | null
    readonly fileSystem?: {
      readonly read?: ReadonlyArray<string> | null
      readonly write?: ReadonlyArray<string> | null
      readonly entries?: ReadonlyArray<{
        readonly path: {
          readonly type: string
          readonly path?: string | null
        }
        readonly access: string
      }> | null
    } | null
  }
  readonly scope?: "turn" | "session" | null
}

/** The agent asks the user questions. */
export type ItemToolRequestUserInputParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly questions: ReadonlyArray<{
    readonly id: string
    readonly header: string
    readonly question: string
    readonly isOther: boolean
    readonly isSecret: boolean
    readonly options: ReadonlyArray<{
      readonly label: string
      readonly description: string
    }> | null
  }>
  readonly isBlocking: boolean
  readonly autoResolutionMs: null
}

export type ItemToolRequestUserInputResult = {
  readonly answers: Readonly<Record<string, {
    readonly answers: ReadonlyArray<string>
  }>>
}

/** Calls a tool that the client gave to `thread/start`. */
export type ItemToolCallParams = {
  readonly threadId: string
  readonly turnId: string
  readonly callId: string
  readonly namespace: string | null
  readonly tool: string
  readonly arguments: unknown
}

export type ItemToolCallResult = {
  readonly contentItems: ReadonlyArray<ToolContent>
  readonly success: boolean
}

/** A tool server asks the user to fill in a form, or a call of a tool that changes something needs an approval. */
export type McpServerElicitationRequestParams = {
  readonly threadId: string
  readonly turnId: string | null
  readonly serverName: string
  readonly mode: "form" | "url"
  readonly _meta: Readonly<Record<string, unknown>> | null
  readonly message: string
  readonly requestedSchema?: Readonly<Record<string, unknown>>
  readonly url?: string
  readonly elicitationId?: string
}

export type McpServerElicitationRequestResult = {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: unknown
  readonly _meta?: unknown
}

/** A thread was started or forked. Sent to every connection; its turns are empty. */
export type ThreadStartedParams = {
  readonly thread: Thread
}

/** What the thread waits for has changed. Sent to every connection. */
export type ThreadStatusChangedParams = {
  readonly threadId: string
  readonly status: ThreadStatus | string | Readonly<Record<string, unknown>>
}

/** Settings of later turns have changed. */
export type ThreadSettingsUpdatedParams = {
  readonly threadId: string
  readonly threadSettings: ThreadSettings
}

/** The thread was named. Sent to every connection. */
export type ThreadNameUpdatedParams = {
  readonly threadId: string
  readonly threadName?: string
}

/** The thread was archived. Sent to every connection. */
export type ThreadArchivedParams = {
  readonly threadId: string
}

/** The thread is listed again. Sent to every connection. */
export type ThreadUnarchivedParams = {
  readonly threadId: string
}

/** The thread was deleted. Sent to every connection. */
export type ThreadDeletedParams = {
  readonly threadId: string
}

/** Turns at the end of the thread were dropped. */
export type ThreadRevertedParams = {
  readonly threadId: string
}

/** The thread has ended here. */
export type ThreadClosedParams = {
  readonly threadId: string
}

/** The thread has no goal. Sent after a thread was loaded. */
export type ThreadGoalClearedParams = {
  readonly threadId: string
}

/** Queued input was added, removed, or started a turn. */
export type ThreadQueueChangedParams = {
  readonly threadId: string
}

/** Which turns the user has not seen has changed. */
export type ThreadReadStateChangedParams = {
  readonly threadId: string
  readonly readState: ReadState
}

/** Tokens of the thread so far; sent after each response of the model. */
export type ThreadTokenUsageUpdatedParams = {
  readonly threadId: string
  readonly turnId: string
  readonly tokenUsage: TokenUsage
}

/** A turn has started. */
export type TurnStartedParams = {
  readonly threadId: string
  readonly turn: Turn
}

/** A turn has ended: completed, interrupted or failed. Every item of it has completed before. */
export type TurnCompletedParams = {
  readonly threadId: string
  readonly turn: Turn
}

/** What the turn has changed so far, as one diff in the style of git with paths relative to the root. */
export type TurnDiffUpdatedParams = {
  readonly threadId: string
  readonly turnId: string
  readonly diff: string
}

/** The agent has written or changed its plan. */
export type TurnPlanUpdatedParams = {
  readonly threadId: string
  readonly turnId: string
  readonly explanation: string | null
  readonly plan: ReadonlyArray<{
    readonly step: string
    readonly status: "pending" | "inProgress" | "completed"
  }>
}

/** An item has started. */
export type ItemStartedParams = {
  readonly item: ThreadItem | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly threadId: string
  readonly turnId: string
  readonly startedAtMs: number
}

/** An item has ended; it is as it will be read back from the history. */
export type ItemCompletedParams = {
  readonly item: ThreadItem | {
    readonly type: string
  } & Readonly<Record<string, unknown>>
  readonly threadId: string
  readonly turnId: string
  readonly completedAtMs: number
  readonly contentTokenCount: null
}

/** More text of a message. */
export type ItemAgentMessageDeltaParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly delta: string
}

/** More text of a plan. */
export type ItemPlanDeltaParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly delta: string
}

/** More output of a command, of both streams. */
export type ItemCommandExecutionOutputDeltaParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly delta: string
}

/** The agent has written to a running command. */
export type ItemCommandExecutionTerminalInteractionParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly processId: string
  readonly stdin: string
}

/** A section of the summary of reasoning begins. */
export type ItemReasoningSummaryPartAddedParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly summaryIndex: number
}

/** More text of a section of the summary of reasoning. */
export type ItemReasoningSummaryTextDeltaParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly delta: string
  readonly summaryIndex: number
}

/** More raw reasoning. */
export type ItemReasoningTextDeltaParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly delta: string
  readonly contentIndex: number
}

/** Progress of a call, as its server reports it. */
export type ItemMcpToolCallProgressParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly message: string
}

/** More output of the program that applies a patch. */
export type ItemFileChangeOutputDeltaParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly delta: string
}

/** The changes of a patch that is being written. */
export type ItemFileChangePatchUpdatedParams = {
  readonly threadId: string
  readonly turnId: string
  readonly itemId: string
  readonly changes: ReadonlyArray<FileUpdateChange>
}

/** A request to the model failed: it is repeated, or the turn fails with this error. */
export type ErrorParams = {
  readonly error: TurnError
  readonly willRetry: boolean
  readonly threadId: string
  readonly turnId: string
}

/** A warning for the user. */
export type WarningParams = {
  readonly threadId: string | null
  readonly message: string
}

/** The configuration has a fault that does no harm. Sent to a client that starts a thread, once for the same faults. */
export type ConfigWarningParams = {
  readonly summary: string
  readonly details: string | null
  readonly path?: string
  readonly range?: unknown
}

/** The client used something that later versions will not have. */
export type DeprecationNoticeParams = {
  readonly summary: string
  readonly details: string | null
}

/** A request of the server was answered by one of its receivers, or withdrawn. */
export type ServerRequestResolvedParams = {
  readonly threadId: string
  readonly requestId: string | number | RawIntegerEncoded
}

/** A tool server is starting, ready, or has failed to start. */
export type McpServerStartupStatusUpdatedParams = {
  readonly threadId: string | null
  readonly name: string
  readonly status: "starting" | "ready" | "failed" | "cancelled" | string | Readonly<Record<string, unknown>>
  readonly error: string | null
  readonly failureReason: null
}

/** An item that the model was sent or has sent, with `experimentalRawEvents`. */
export type RawResponseItemCompletedParams = {
  readonly threadId: string
  readonly turnId: string
  readonly item: unknown
}

/** The model has completed a response, with `experimentalRawEvents`. */
export type RawResponseCompletedParams = {
  readonly threadId: string
  readonly turnId: string
  readonly responseId: string
  readonly usage: TokenCounts | null
  readonly usageMetadata: unknown
}

/** The credentials changed, through this or another connection. Sent to every connection. */
export type AccountUpdatedParams = {
  readonly authMode: string | null
  readonly planType: string | null
}

/** A login has ended. Sent to every connection. */
export type AccountLoginCompletedParams = {
  readonly loginId: string | null
  readonly success: boolean
  readonly error: string | null
  readonly onboardingEntrypoint: null
}

/** The rate limits that the provider has reported have changed. Sent to every connection. */
export type AccountRateLimitsUpdatedParams = {
  readonly rateLimits: RateLimitSnapshot
}

/** A skill may have changed, been added or removed in a directory of an earlier `skills/list` of this connection. */
export type SkillsChangedParams = Readonly<Record<string, unknown>>

/** More output of a command, sent to the connection that runs it. */
export type CommandExecOutputDeltaParams = {
  readonly processId: string
  readonly stream: "stdout" | "stderr"
  readonly deltaBase64: string
  readonly capReached: boolean
}

/** The files that match the query of a session so far, best first. Sent to the connection of the session. */
export type FuzzyFileSearchSessionUpdatedParams = {
  readonly sessionId: string
  readonly query: string
  readonly files: ReadonlyArray<FoundFile>
}

/** All files of a session were searched with its query. */
export type FuzzyFileSearchSessionCompletedParams = {
  readonly sessionId: string
}

/** What is watched has changed. Sent to the connection that watches it. */
export type FsChangedParams = {
  readonly watchId: string
  readonly changedPaths: ReadonlyArray<string>
}

/** Requests that the client sends, by their names on the wire. */
export interface ClientRequests {
  /** Introduces the client. Must be sent once, before every other request. */
  "initialize": { params: InitializeParams; result: InitializeResult }
  /** Creates a thread and subscribes to it. Nothing of it is listed before its first turn. */
  "thread/start": { params: ThreadStartParams; result: ThreadStartResult }
  /** Subscribes to a thread, loads it if needed, and applies the given settings to its next turns. A running turn is in the result with its finished items; pending questions follow the response. */
  "thread/resume": { params: ThreadResumeParams; result: ThreadResumeResult }
  /** Creates a thread with the ended turns of another one, by default all of them, and subscribes to it. A turn that still runs goes on there, and the copy has no part of it. */
  "thread/fork": { params: ThreadForkParams; result: ThreadForkResult }
  /** Reads a thread, with its turns if asked for. Loads nothing. */
  "thread/read": { params: ThreadReadParams; result: ThreadReadResult }
  /** Lists the stored threads that have a user message, in pages. */
  "thread/list": { params: ThreadListParams; result: ThreadListResult }
  /** Lists the turns of a thread in pages, by default newest first and each with its first user message and its last agent message. Loads nothing. */
  "thread/turns/list": { params: ThreadTurnsListParams; result: ThreadTurnsListResult }
  /** Lists the items of a thread, or of one turn, in pages. Loads nothing. */
  "thread/items/list": { params: ThreadItemsListParams; result: ThreadItemsListResult }
  /** Lists the ids of the threads that were started, forked or resumed since the server started and not archived or deleted since, ephemeral ones included; the last 10,000 at most. Such a thread may have left memory: it is loaded again when it is used. */
  "thread/loaded/list": { params: ThreadLoadedListParams; result: ThreadLoadedListResult }
  /** Names a thread. Every connection is notified. */
  "thread/name/set": { params: ThreadNameSetParams; result: ThreadNameSetResult }
  /** Interrupts the running turn, ends the thread and archives it. Every connection is notified. */
  "thread/archive": { params: ThreadArchiveParams; result: ThreadArchiveResult }
  /** Makes an archived thread listed again. Loads nothing. */
  "thread/unarchive": { params: ThreadUnarchiveParams; result: ThreadUnarchiveResult }
  /** Interrupts the running turn, ends the thread and deletes it, archived or not. Every connection is notified. */
  "thread/delete": { params: ThreadDeleteParams; result: ThreadDeleteResult }
  /** Ends the subscription of this connection. A running turn goes on. */
  "thread/unsubscribe": { params: ThreadUnsubscribeParams; result: ThreadUnsubscribeResult }
  /** Starts a turn that replaces the history by a summary of it. */
  "thread/compact/start": { params: ThreadCompactStartParams; result: ThreadCompactStartResult }
  /** Interrupts the running turn and drops this turn and all later ones. */
  "thread/revert": { params: ThreadRevertParams; result: ThreadRevertResult }
  /** Runs a command of the user in the user's shell and the directory of the thread, under its sandbox policy, as a turn of its own. Refused while a turn runs. The model reads the command and its output with the next turn. */
  "thread/shellCommand": { params: ThreadShellCommandParams; result: ThreadShellCommandResult }
  /** Changes settings of later turns. Subscribers are notified of what changed. */
  "thread/settings/update": { params: ThreadSettingsUpdateParams; result: ThreadSettingsUpdateResult }
  /** Marks a thread as read or unread. Subscribers are notified before the response. */
  "thread/readState/update": { params: ThreadReadStateUpdateParams; result: ThreadReadStateUpdateResult }
  /** Queues input, which starts a turn by itself after the running one. */
  "thread/queue/add": { params: ThreadQueueAddParams; result: ThreadQueueAddResult }
  /** Lists the queued input, oldest first. */
  "thread/queue/list": { params: ThreadQueueListParams; result: ThreadQueueListResult }
  /** Replaces queued input; it keeps its place. */
  "thread/queue/update": { params: ThreadQueueUpdateParams; result: ThreadQueueUpdateResult }
  /** Removes queued input. */
  "thread/queue/delete": { params: ThreadQueueDeleteParams; result: ThreadQueueDeleteResult }
  /** Changes the order of the queued input. */
  "thread/queue/reorder": { params: ThreadQueueReorderParams; result: ThreadQueueReorderResult }
  /** Starts a turn with queued input now. An error while a turn runs. */
  "thread/queue/start": { params: ThreadQueueStartParams; result: ThreadQueueStartResult }
  /** Starts a turn, with settings that also apply to later ones. While a turn runs, the input joins it, and the result has the id of that turn. */
  "turn/start": { params: TurnStartParams; result: TurnStartResult }
  /** Adds input to the running turn, which must be the expected one. */
  "turn/steer": { params: TurnSteerParams; result: TurnSteerResult }
  /** Interrupts a turn, from the response to `turn/start` on. Its items complete, and `turn/completed` follows. */
  "turn/interrupt": { params: TurnInterruptParams; result: TurnInterruptResult }
  /** Starts a turn that reviews changes of the workspace. It can be interrupted by the id of the result. */
  "review/start": { params: ReviewStartParams; result: ReviewStartResult }
  /** Reports the account that the provider in use needs, if any. */
  "account/read": { params: AccountReadParams; result: AccountReadResult }
  /** Stores an API key, or starts a login in the browser or by a code. `account/login/completed` reports the end of the login. */
  "account/login/start": { params: AccountLoginStartParams; result: AccountLoginStartResult }
  /** Cancels a login that is in progress. */
  "account/login/cancel": { params: AccountLoginCancelParams; result: AccountLoginCancelResult }
  /** Removes the stored credentials. `account/updated` follows, also when there were none. */
  "account/logout": { params: undefined; result: AccountLogoutResult }
  /** Reports how much of the provider's rate limits is used. */
  "account/rateLimits/read": { params: undefined; result: AccountRateLimitsReadResult }
  /** Reports whether Amazon Bedrock is used in a region of the government. This program has no such provider. */
  "account/bedrock/checkGovCloudRequirements": { params: AccountBedrockCheckGovCloudRequirementsParams; result: AccountBedrockCheckGovCloudRequirementsResult }
  /** Reports the authentication method in use; it is null when there are no credentials. */
  "getAuthStatus": { params: GetAuthStatusParams; result: GetAuthStatusResult }
  /** Lists the known models of a provider, by default of the active one, in pages. */
  "model/list": { params: ModelListParams; result: ModelListResult }
  /** Lists the modes in which the agent can work with the user. */
  "collaborationMode/list": { params: CollaborationModeListParams; result: CollaborationModeListResult }
  /** Lists the sets of permissions that threads and turns can be given. */
  "permissionProfile/list": { params: PermissionProfileListParams; result: PermissionProfileListResult }
  /** Reads the configuration in effect, and where each value comes from. */
  "config/read": { params: ConfigReadParams; result: ConfigReadResult }
  /** Writes one value to config.toml. Threads that are loaded keep their settings. */
  "config/value/write": { params: ConfigValueWriteParams; result: ConfigValueWriteResult }
  /** Writes several values to config.toml, all or none. */
  "config/batchWrite": { params: ConfigBatchWriteParams; result: ConfigBatchWriteResult }
  /** Reports which values of the configuration the administrator of the machine requires. */
  "configRequirements/read": { params: undefined; result: ConfigRequirementsReadResult }
  /** Lists the skills that the agent has in each directory. */
  "skills/list": { params: SkillsListParams; result: SkillsListResult }
  /** Lists the hooks of each directory. This program has none. */
  "hooks/list": { params: HooksListParams; result: HooksListResult }
  /** Lists the installed plugins. This program has none. */
  "plugin/installed": { params: PluginInstalledParams; result: PluginInstalledResult }
  /** Lists the MCP servers that the agent uses, with their tools. */
  "mcpServerStatus/list": { params: McpServerStatusListParams; result: McpServerStatusListResult }
  /** Calls a tool of an MCP server of a loaded thread, for the client: the model does not see it. */
  "mcpServer/tool/call": { params: McpServerToolCallParams; result: McpServerToolCallResult }
  /** Reads a resource of an MCP server. */
  "mcpServer/resource/read": { params: McpServerResourceReadParams; result: McpServerResourceReadResult }
  /** Runs a command, given by its words, in the configured sandbox, without an approval. Responds when the command has ended and all its output was notified. */
  "command/exec": { params: CommandExecParams; result: CommandExecResult }
  /** Writes to the standard input of a command of this connection, or closes it. */
  "command/exec/write": { params: CommandExecWriteParams; result: CommandExecWriteResult }
  /** Changes the size of the terminal of a command of this connection. */
  "command/exec/resize": { params: CommandExecResizeParams; result: CommandExecResizeResult }
  /** Ends a command of this connection. */
  "command/exec/terminate": { params: CommandExecTerminateParams; result: CommandExecTerminateResult }
  /** Searches the files below the roots by a query that may leave characters out. Best matches come first. */
  "fuzzyFileSearch": { params: FuzzyFileSearchParams; result: FuzzyFileSearchResult }
  /** Starts a session: the files below the roots are listed once and searched with every query. */
  "fuzzyFileSearch/sessionStart": { params: FuzzyFileSearchSessionStartParams; result: FuzzyFileSearchSessionStartResult }
  /** Searches the files of a session. The results are notified as they are found. */
  "fuzzyFileSearch/sessionUpdate": { params: FuzzyFileSearchSessionUpdateParams; result: FuzzyFileSearchSessionUpdateResult }
  /** Ends a session. */
  "fuzzyFileSearch/sessionStop": { params: FuzzyFileSearchSessionStopParams; result: FuzzyFileSearchSessionStopResult }
  /** Reports the nearest commit that exists on a remote, and the diff of the working tree against it, including new files. */
  "gitDiffToRemote": { params: GitDiffToRemoteParams; result: GitDiffToRemoteResult }
  /** Reads a file. */
  "fs/readFile": { params: FsReadFileParams; result: FsReadFileResult }
  /** Writes a file, replacing one that exists. */
  "fs/writeFile": { params: FsWriteFileParams; result: FsWriteFileResult }
  /** Describes a file or directory. Symbolic links are followed, except for `isSymlink`. */
  "fs/getMetadata": { params: FsGetMetadataParams; result: FsGetMetadataResult }
  /** Lists the entries of a directory. */
  "fs/readDirectory": { params: FsReadDirectoryParams; result: FsReadDirectoryResult }
  /** Creates a directory. */
  "fs/createDirectory": { params: FsCreateDirectoryParams; result: FsCreateDirectoryResult }
  /** Copies a file or a directory. */
  "fs/copy": { params: FsCopyParams; result: FsCopyResult }
  /** Removes a file or a directory. */
  "fs/remove": { params: FsRemoveParams; result: FsRemoveResult }
  /** Notifies this connection of changes of a file, or of the entries of a directory. */
  "fs/watch": { params: FsWatchParams; result: FsWatchResult }
  /** Ends a watch of this connection. */
  "fs/unwatch": { params: FsUnwatchParams; result: FsUnwatchResult }
  /** Summarises a stored thread: what `thread/list` reports of it, in an older form. */
  "getConversationSummary": { params: GetConversationSummaryParams; result: GetConversationSummaryResult }
}

/** Notifications that the client sends, by their names on the wire. */
export interface ClientNotifications {
  /** The client has received the response to `initialize`. It has no effect, and may be left out. */
  "initialized": { params: undefined }
}

/** Requests that the server sends, by their names on the wire. */
export interface ServerRequests {
  /** Asks whether a command may run. */
  "item/commandExecution/requestApproval": { params: ItemCommandExecutionRequestApprovalParams; result: ItemCommandExecutionRequestApprovalResult }
  /** Asks whether a patch may be applied; its changes are in the item. */
  "item/fileChange/requestApproval": { params: ItemFileChangeRequestApprovalParams; result: ItemFileChangeRequestApprovalResult }
  /** Asks for more permissions than the sandbox gives. What the result leaves out is not granted. */
  "item/permissions/requestApproval": { params: ItemPermissionsRequestApprovalParams; result: ItemPermissionsRequestApprovalResult }
  /** The agent asks the user questions. */
  "item/tool/requestUserInput": { params: ItemToolRequestUserInputParams; result: ItemToolRequestUserInputResult }
  /** Calls a tool that the client gave to `thread/start`. */
  "item/tool/call": { params: ItemToolCallParams; result: ItemToolCallResult }
  /** A tool server asks the user to fill in a form, or a call of a tool that changes something needs an approval. */
  "mcpServer/elicitation/request": { params: McpServerElicitationRequestParams; result: McpServerElicitationRequestResult }
}

/** Notifications that the server sends, by their names on the wire. */
export interface ServerNotifications {
  /** A thread was started or forked. Sent to every connection; its turns are empty. */
  "thread/started": { params: ThreadStartedParams }
  /** What the thread waits for has changed. Sent to every connection. */
  "thread/status/changed": { params: ThreadStatusChangedParams }
  /** Settings of later turns have changed. */
  "thread/settings/updated": { params: ThreadSettingsUpdatedParams }
  /** The thread was named. Sent to every connection. */
  "thread/name/updated": { params: ThreadNameUpdatedParams }
  /** The thread was archived. Sent to every connection. */
  "thread/archived": { params: ThreadArchivedParams }
  /** The thread is listed again. Sent to every connection. */
  "thread/unarchived": { params: ThreadUnarchivedParams }
  /** The thread was deleted. Sent to every connection. */
  "thread/deleted": { params: ThreadDeletedParams }
  /** Turns at the end of the thread were dropped. */
  "thread/reverted": { params: ThreadRevertedParams }
  /** The thread has ended here. */
  "thread/closed": { params: ThreadClosedParams }
  /** The thread has no goal. Sent after a thread was loaded. */
  "thread/goal/cleared": { params: ThreadGoalClearedParams }
  /** Queued input was added, removed, or started a turn. */
  "thread/queue/changed": { params: ThreadQueueChangedParams }
  /** Which turns the user has not seen has changed. */
  "thread/readState/changed": { params: ThreadReadStateChangedParams }
  /** Tokens of the thread so far; sent after each response of the model. */
  "thread/tokenUsage/updated": { params: ThreadTokenUsageUpdatedParams }
  /** A turn has started. */
  "turn/started": { params: TurnStartedParams }
  /** A turn has ended: completed, interrupted or failed. Every item of it has completed before. */
  "turn/completed": { params: TurnCompletedParams }
  /** What the turn has changed so far, as one diff in the style of git with paths relative to the root. */
  "turn/diff/updated": { params: TurnDiffUpdatedParams }
  /** The agent has written or changed its plan. */
  "turn/plan/updated": { params: TurnPlanUpdatedParams }
  /** An item has started. */
  "item/started": { params: ItemStartedParams }
  /** An item has ended; it is as it will be read back from the history. */
  "item/completed": { params: ItemCompletedParams }
  /** More text of a message. */
  "item/agentMessage/delta": { params: ItemAgentMessageDeltaParams }
  /** More text of a plan. */
  "item/plan/delta": { params: ItemPlanDeltaParams }
  /** More output of a command, of both streams. */
  "item/commandExecution/outputDelta": { params: ItemCommandExecutionOutputDeltaParams }
  /** The agent has written to a running command. */
  "item/commandExecution/terminalInteraction": { params: ItemCommandExecutionTerminalInteractionParams }
  /** A section of the summary of reasoning begins. */
  "item/reasoning/summaryPartAdded": { params: ItemReasoningSummaryPartAddedParams }
  /** More text of a section of the summary of reasoning. */
  "item/reasoning/summaryTextDelta": { params: ItemReasoningSummaryTextDeltaParams }
  /** More raw reasoning. */
  "item/reasoning/textDelta": { params: ItemReasoningTextDeltaParams }
  /** Progress of a call, as its server reports it. */
  "item/mcpToolCall/progress": { params: ItemMcpToolCallProgressParams }
  /** More output of the program that applies a patch. */
  "item/fileChange/outputDelta": { params: ItemFileChangeOutputDeltaParams }
  /** The changes of a patch that is being written. */
  "item/fileChange/patchUpdated": { params: ItemFileChangePatchUpdatedParams }
  /** A request to the model failed: it is repeated, or the turn fails with this error. */
  "error": { params: ErrorParams }
  /** A warning for the user. */
  "warning": { params: WarningParams }
  /** The configuration has a fault that does no harm. Sent to a client that starts a thread, once for the same faults. */
  "configWarning": { params: ConfigWarningParams }
  /** The client used something that later versions will not have. */
  "deprecationNotice": { params: DeprecationNoticeParams }
  /** A request of the server was answered by one of its receivers, or withdrawn. */
  "serverRequest/resolved": { params: ServerRequestResolvedParams }
  /** A tool server is starting, ready, or has failed to start. */
  "mcpServer/startupStatus/updated": { params: McpServerStartupStatusUpdatedParams }
  /** An item that the model was sent or has sent, with `experimentalRawEvents`. */
  "rawResponseItem/completed": { params: RawResponseItemCompletedParams }
  /** The model has completed a response, with `experimentalRawEvents`. */
  "rawResponse/completed": { params: RawResponseCompletedParams }
  /** The credentials changed, through this or another connection. Sent to every connection. */
  "account/updated": { params: AccountUpdatedParams }
  /** A login has ended. Sent to every connection. */
  "account/login/completed": { params: AccountLoginCompletedParams }
  /** The rate limits that the provider has reported have changed. Sent to every connection. */
  "account/rateLimits/updated": { params: AccountRateLimitsUpdatedParams }
  /** A skill may have changed, been added or removed in a directory of an earlier `skills/list` of this connection. */
  "skills/changed": { params: SkillsChangedParams }
  /** More output of a command, sent to the connection that runs it. */
  "command/exec/outputDelta": { params: CommandExecOutputDeltaParams }
  /** The files that match the query of a session so far, best first. Sent to the connection of the session. */
  "fuzzyFileSearch/sessionUpdated": { params: FuzzyFileSearchSessionUpdatedParams }
  /** All files of a session were searched with its query. */
  "fuzzyFileSearch/sessionCompleted": { params: FuzzyFileSearchSessionCompletedParams }
  /** What is watched has changed. Sent to the connection that watches it. */
  "fs/changed": { params: FsChangedParams }
}
