/**
 * A name for each event, for programs that pass events on to functions of their own. Generated from the definitions:
 * `UPDATE_EVENT_TYPES=1 npx vitest run --config vitest.workspace.ts packages/protocol/test/EventTypes` rewrites it.
 */
import type { EventOf } from "./EventMsg.ts"

/** `error`: The turn cannot continue. Its terminal event follows. */
export type ErrorEvent = EventOf<"error">

/** `task_started`: A turn has started. */
export type TaskStartedEvent = EventOf<"task_started">

/** `task_complete`: A turn has ended by itself. */
export type TaskCompleteEvent = EventOf<"task_complete">

/** `token_count`: A response of the model is complete: the tokens that it used, and the provider's rate limits. */
export type TokenCountEvent = EventOf<"token_count">

/** `agent_message`: A complete message of the agent. */
export type AgentMessageEvent = EventOf<"agent_message">

/** `user_message`: A message of the user, or of the client on the user's behalf. Up to 0.57 the original recorded it and did not send it: its clients would show the message twice. */
export type UserMessageEvent = EventOf<"user_message">

/** `agent_message_delta`: A piece of a message that is still being received. */
export type AgentMessageDeltaEvent = EventOf<"agent_message_delta">

/** `agent_reasoning`: A complete section of the agent's reasoning summary. */
export type AgentReasoningEvent = EventOf<"agent_reasoning">

/** `agent_reasoning_delta`: A piece of a reasoning summary that is still being received. */
export type AgentReasoningDeltaEvent = EventOf<"agent_reasoning_delta">

/** `agent_reasoning_raw_content`: The agent's reasoning itself, where the provider gives it and the settings show it. */
export type AgentReasoningRawContentEvent = EventOf<"agent_reasoning_raw_content">

/** `agent_reasoning_raw_content_delta`: A piece of reasoning that is still being received. */
export type AgentReasoningRawContentDeltaEvent = EventOf<"agent_reasoning_raw_content_delta">

/** `agent_reasoning_section_break`: The next delta of the reasoning summary begins a new section. */
export type AgentReasoningSectionBreakEvent = EventOf<"agent_reasoning_section_break">

/** `session_configured`: The first event of a conversation (L3): its id and its settings. The app-server of the original reports it in a separate notification. */
export type SessionConfiguredEvent = EventOf<"session_configured">

/** `mcp_tool_call_begin`: A tool of a tool server is being called. */
export type McpToolCallBeginEvent = EventOf<"mcp_tool_call_begin">

/** `mcp_tool_call_end`: A call of a tool server's tool has ended. */
export type McpToolCallEndEvent = EventOf<"mcp_tool_call_end">

/** `web_search_begin`: The model's provider is searching the web. */
export type WebSearchBeginEvent = EventOf<"web_search_begin">

/** `web_search_end`: A web search has ended. */
export type WebSearchEndEvent = EventOf<"web_search_end">

/** `exec_command_begin`: A command has started. */
export type ExecCommandBeginEvent = EventOf<"exec_command_begin">

/** `exec_command_output_delta`: A chunk of a running command's output. */
export type ExecCommandOutputDeltaEvent = EventOf<"exec_command_output_delta">

/** `exec_command_end`: A command has ended. */
export type ExecCommandEndEvent = EventOf<"exec_command_end">

/** `exec_approval_request`: A command needs an approval before it may run. */
export type ExecApprovalRequestEvent = EventOf<"exec_approval_request">

/** `apply_patch_approval_request`: A patch needs an approval before it may be applied. */
export type ApplyPatchApprovalRequestEvent = EventOf<"apply_patch_approval_request">

/** `background_event`: A note about what the server is doing. */
export type BackgroundEvent = EventOf<"background_event">

/** `stream_error`: The connection to the model failed; the request is sent again. The text that was received so far is discarded. */
export type StreamErrorEvent = EventOf<"stream_error">

/** `patch_apply_begin`: A patch is being applied. */
export type PatchApplyBeginEvent = EventOf<"patch_apply_begin">

/** `patch_apply_end`: A patch was applied, or could not be applied. */
export type PatchApplyEndEvent = EventOf<"patch_apply_end">

/** `turn_diff`: All changes of files in this turn so far, as one diff. */
export type TurnDiffEvent = EventOf<"turn_diff">

/** `get_history_entry_response`: Legacy, never sent: an entry of the original's message history, the response to `get_history_entry_request`. */
export type GetHistoryEntryResponseEvent = EventOf<"get_history_entry_response">

/** `mcp_list_tools_response`: The tools of the tool servers, by name: the response to `list_mcp_tools`. */
export type McpListToolsResponseEvent = EventOf<"mcp_list_tools_response">

/** `list_custom_prompts_response`: Legacy, never sent: the user's prompt files, the response to `list_custom_prompts`. Prompt files are MCP prompts here. */
export type ListCustomPromptsResponseEvent = EventOf<"list_custom_prompts_response">

/** `plan_update`: The agent has written or changed its plan. */
export type PlanUpdateEvent = EventOf<"plan_update">

/** `turn_aborted`: A turn was interrupted, replaced by another one, or cut off by the end of the process. */
export type TurnAbortedEvent = EventOf<"turn_aborted">

/** `shutdown_complete`: The conversation has ended at a client's request. It is the last event. */
export type ShutdownCompleteEvent = EventOf<"shutdown_complete">

/** `conversation_path`: Legacy, never sent: the path of the rollout file, the response to `get_path`. */
export type ConversationPathEvent = EventOf<"conversation_path">

/** `entered_review_mode`: Legacy, never produced: a review has started. May occur in a conversation that the original stored. */
export type EnteredReviewModeEvent = EventOf<"entered_review_mode">

/** `exited_review_mode`: Legacy, never produced: a review has ended. May occur in a conversation that the original stored. */
export type ExitedReviewModeEvent = EventOf<"exited_review_mode">

/** `raw_response_item`: An item of the history that is sent to the model. */
export type RawResponseItemEvent = EventOf<"raw_response_item">

/** `view_image_tool_call`: The agent reads an image file. */
export type ViewImageToolCallEvent = EventOf<"view_image_tool_call">

/** `warning`: Something did not work as configured; the turn continues. */
export type WarningEvent = EventOf<"warning">

/** `approval_resolved`: A question was resolved: by a person's answer, or without one for the given reason. */
export type ApprovalResolvedEvent = EventOf<"approval_resolved">

/** `elicitation_request`: A tool server asks a person to fill in a form. */
export type ElicitationRequestEvent = EventOf<"elicitation_request">

/** `compacted`: The history was replaced by the initial context, one message that quotes the user's messages, and the summary `message`. */
export type CompactedEvent = EventOf<"compacted">

/** `tool_call_begin`: A tool of the embedding application is being called. */
export type ToolCallBeginEvent = EventOf<"tool_call_begin">

/** `tool_call_end`: A call of a tool of the embedding application has ended. */
export type ToolCallEndEvent = EventOf<"tool_call_end">

/** `tool_approval_request`: A call of a tool of the embedding application needs an approval. */
export type ToolApprovalRequestEvent = EventOf<"tool_approval_request">
