/**
 * What a client shows of a conversation: messages, commands, file changes and so on, each with an id, a start, an end and a
 * status. `Items.ts` derives items from events.
 */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ParsedCommand } from "@colloquy/protocol/events/CommandEvents"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { UserInputQuestion } from "@colloquy/protocol/events/QuestionEvents"
import type { PlanItem } from "@colloquy/protocol/events/ToolEvents"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"

/**
 * - `running`: started and not ended yet;
 * - `completed`: ended successfully;
 * - `failed`: ended with an error, or a command with an exit code other than 0;
 * - `declined`: a question that was not approved;
 * - `interrupted`: the turn ended first.
 */
export type ItemStatus = "running" | "completed" | "failed" | "declined" | "interrupted"

interface Base<T extends string> {
  readonly type: T
  /**
   * `<submission id>/<type>/<n>`, where `n` counts the items of this type in the submission from 0. It is the same for
   * live events and for a replayed log.
   */
  readonly id: string
  /** Id of the submission whose events made the item. */
  readonly turnId: string
  readonly status: ItemStatus
}

/** An item whose text arrives in deltas. Until it is recorded, `text` is what was received so far. */
export interface TextItem extends Base<"agent_message" | "reasoning" | "raw_reasoning"> {
  readonly text: string
}

/** A message of the user, or one that was added on the user's behalf. */
export interface UserMessageItem extends Base<"user_message"> {
  readonly text: string
  /** `plain` is a person's message; the others were added by the server or the client. */
  readonly kind: NonNullable<EventOf<"user_message">["kind"]>
  /** URLs. */
  readonly images: ReadonlyArray<string>
  /** Id that the client gave the message. */
  readonly clientId?: string
  /** The input as it was sent; absent when `text` and `images` say all of it. */
  readonly parts?: EventOf<"user_message">["parts"]
}

/** A command that the agent runs. */
export interface CommandItem extends Base<"command"> {
  readonly callId: string
  readonly command: ReadonlyArray<string>
  readonly cwd: string
  readonly parsed?: ReadonlyArray<ParsedCommand>
  /** Who runs it; absent: the agent. */
  readonly source?: "user_shell"
  /** Absent while it runs and when the turn ended first, like `output` and `durationMs`. */
  readonly exitCode?: number
  /** Both streams, in the order in which they were written where that is known. */
  readonly output?: string
  readonly durationMs?: number
}

/** A patch that the agent applies. */
export interface FileChangeItem extends Base<"file_change"> {
  readonly callId: string
  /** By path. */
  readonly changes: Readonly<Record<string, FileChange>>
  /** Absent while it is applied and when the turn ended first. */
  readonly success?: boolean
}

/** A call of a tool server's tool. */
export interface McpToolCallItem extends Base<"mcp_tool_call"> {
  readonly callId: string
  readonly server: string
  readonly tool: string
  readonly arguments: unknown
  /** What the server says of the tool: true, that it changes nothing. Absent where it says nothing. */
  readonly readOnly?: boolean
  /** Absent while it runs and when the turn ended first, like `durationMs`. */
  readonly result?: EventOf<"mcp_tool_call_end">["result"]
  readonly durationMs?: number
}

/** A call of a tool of the embedding application or of a client, or a call that a tool has refused. */
export interface ToolCallItem extends Base<"tool_call"> {
  readonly callId: string
  readonly tool: string
  /** Of a tool of a client, if it has one. */
  readonly namespace?: string
  readonly arguments: unknown
  /** Absent while it runs and when the turn ended first, like `durationMs`. */
  readonly result?: EventOf<"tool_call_end">["result"]
  /** What a tool of a client has returned. */
  readonly content?: EventOf<"tool_call_end">["content"]
  readonly durationMs?: number
}

/** A web search by the model's provider. */
export interface WebSearchItem extends Base<"web_search"> {
  readonly callId: string
  /** Known when the search has ended. */
  readonly query?: string
}

/** What a question is about. */
export type QuestionSubject =
  | Pick<CommandItem, "command" | "cwd" | "parsed">
  | Pick<FileChangeItem, "changes">
  | Pick<ToolCallItem, "tool" | "arguments">
  /** The form of a tool server. */
  | { readonly server: string; readonly message: string }
  /** What the agent may be permitted. */
  | { readonly permissions: FurtherPermissions }
  /** What the agent asks. */
  | { readonly questions: ReadonlyArray<UserInputQuestion> }

/** A question to a person: an approval, the form of a tool server, or the agent's questions. */
export interface QuestionItem extends Base<"question"> {
  readonly callId: string
  readonly kind: "command" | "file_change" | "tool" | "permissions" | "form" | "input"
  /** What the call will do once it is approved: the call has an item of its own then, with the same `callId`. */
  readonly subject: QuestionSubject
  /** Absent while the question is pending, like `reason`. */
  readonly decision?: EventOf<"approval_resolved">["decision"]
  readonly reason?: EventOf<"approval_resolved">["reason"]
}

/** An image file that the agent reads. */
export interface ImageViewItem extends Base<"image_view"> {
  readonly callId: string
  readonly path: string
}

/** The agent's plan, as it was written or changed. */
export interface PlanUpdateItem extends Base<"plan"> {
  readonly explanation: string | null
  readonly steps: ReadonlyArray<PlanItem>
}

/** A message about the conversation itself: why a turn failed, a warning, or the summary of a compaction. */
export interface NoticeItem extends Base<"error" | "warning" | "compaction"> {
  readonly message: string
}

/** The beginning or the end of a review: what is reviewed, or what was found. */
export interface ReviewItem extends Base<"review_start" | "review_end"> {
  readonly text: string
}

/** The end of a turn before its answer. */
export interface InterruptionItem extends Base<"interruption"> {
  readonly reason: EventOf<"turn_aborted">["reason"]
}

/** An item that ends with another event than the one it starts with. */
export type CallItem =
  | CommandItem
  | FileChangeItem
  | McpToolCallItem
  | ToolCallItem
  | WebSearchItem
  | QuestionItem

/** Every kind of item. */
export type Item =
  | TextItem
  | CallItem
  | UserMessageItem
  | ImageViewItem
  | PlanUpdateItem
  | NoticeItem
  | ReviewItem
  | InterruptionItem

/** The message that follows a summary, in the words of the original. */
export const compactionNotice = "Compact task completed"
