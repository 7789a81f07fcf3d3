/** An item of the core as an item of this dialect. Pure; knows nothing of the order in which items start and end. */
import type {
  CallItem,
  CommandItem,
  FileChangeItem,
  ImageViewItem,
  McpToolCallItem,
  QuestionItem,
  ToolCallItem,
  UserMessageItem,
  WebSearchItem,
} from "@colloquy/core/log/Item"
import { firstItemId } from "@colloquy/core/log/Items"
import { commandText } from "@colloquy/core/question/CommandText"
import type { FileChange as CoreFileChange } from "@colloquy/protocol/events/PatchEvents"
import type { ParsedCommand } from "@colloquy/protocol/events/CommandEvents"
import type * as Items from "@colloquy/protocol/thread/Items"
import { inputOfPart } from "./InputParts.ts"
import { contentOf } from "./ToolContents.ts"

/** When an item started and ended, in milliseconds since the epoch. */
interface Times {
  readonly startedAtMs: number
  readonly completedAtMs: number | null
}

/** An item that a call makes. */
export type CallThreadItem =
  | Items.CommandExecution
  | Items.FileChange
  | Items.McpToolCall
  | Items.DynamicToolCall
  | Items.WebSearch

type Identity = Times & { readonly id: string }

/** A path of a command's description, absolute. */
const absolute = (cwd: string, path: string): string =>
  path.startsWith("/") ? path : `${cwd.replace(/\/$/, "")}/${path}`

/** What a command does, as this dialect says it. */
export const commandAction =
  (cwd: string) =>
  (parsed: ParsedCommand): Items.CommandAction => {
    switch (parsed.type) {
      case "read":
        return {
          type: "read",
          command: parsed.cmd,
          name: parsed.name,
          path: absolute(cwd, parsed.name),
        }
      case "list_files":
        return { type: "listFiles", command: parsed.cmd, path: parsed.path }
      case "search":
        return { type: "search", command: parsed.cmd, query: parsed.query, path: parsed.path }
      case "unknown":
        return { type: "unknown", command: parsed.cmd }
    }
  }

/** The line that a shell command contains, if it is one: that is what a person wants to read. */
const actionsOf = ({ command, cwd, parsed }: Pick<CommandItem, "command" | "cwd" | "parsed">) =>
  parsed === undefined || parsed.length === 0
    ? [{ type: "unknown" as const, command: commandText(command) }]
    : parsed.map(commandAction(cwd))

const callStatus = {
  running: "inProgress",
  completed: "completed",
  failed: "failed",
  declined: "declined",
  interrupted: "failed",
} as const satisfies Readonly<Record<CallItem["status"], Items.CommandExecution["status"]>>

/** As `callStatus`, where the dialect has no word for a declined call. */
const toolStatus = { ...callStatus, declined: "failed" } as const

const millis = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms))

/** A command, whose approval is pending while `source` is `agent`. */
const commandExecution = (
  identity: Identity,
  item: Pick<CommandItem, "command" | "cwd" | "parsed" | "status"> & Partial<CommandItem>,
  source: Items.CommandExecution["source"],
): Items.CommandExecution => ({
  type: "commandExecution",
  id: identity.id,
  pluginId: null,
  scriptPath: null,
  command: commandText(item.command),
  cwd: item.cwd,
  processId: null,
  source,
  status: callStatus[item.status],
  commandActions: actionsOf(item),
  aggregatedOutput: item.output === undefined || item.output === "" ? null : item.output,
  exitCode: item.exitCode ?? null,
  durationMs: millis(item.durationMs),
  startedAtMs: identity.startedAtMs,
  completedAtMs: identity.completedAtMs,
})

/** The hunks of a unified diff, without the lines that name the files. */
const hunksOf = (diff: string): string => {
  const at = diff.indexOf("@@")
  return at === -1 ? diff : diff.slice(at)
}

const fileUpdate = ([path, change]: readonly [string, CoreFileChange]): Items.FileUpdateChange => {
  if ("add" in change) return { path, kind: { type: "add" }, diff: change.add.content }
  if ("delete" in change) return { path, kind: { type: "delete" }, diff: change.delete.content }
  const { move_path, unified_diff } = change.update
  const moved = move_path === null ? "" : `\n\nMoved to: ${move_path}`
  return { path, kind: { type: "update", move_path }, diff: `${hunksOf(unified_diff)}${moved}` }
}

/** What a patch does to each file, in the order of the paths. */
const updatesOf = (changes: FileChangeItem["changes"]): ReadonlyArray<Items.FileUpdateChange> =>
  Object.entries(changes)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(fileUpdate)

/** A patch. */
const fileChange = (
  { completedAtMs, id, startedAtMs }: Identity,
  { changes, status }: Pick<FileChangeItem, "changes" | "status">,
): Items.FileChange => ({
  type: "fileChange",
  id,
  changes: updatesOf(changes),
  status: callStatus[status],
  startedAtMs,
  completedAtMs,
})

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const interruptedText = "the turn ended before the call"

/** The result of a tool server: its members, or all of it as one text where it has none. */
const mcpResult = (value: unknown): NonNullable<Items.McpToolCall["result"]> =>
  isRecord(value) && Array.isArray(value["content"])
    ? {
        content: value["content"],
        structuredContent: value["structuredContent"] ?? null,
        _meta: value["_meta"] ?? null,
      }
    : {
        content: [{ type: "text", text: JSON.stringify(value) ?? "" }],
        structuredContent: null,
        _meta: null,
      }

const mcpOutcome = ({ result, status }: McpToolCallItem) => {
  if (result === undefined) {
    const ended = status === "interrupted" ? { message: interruptedText } : null
    return { status: toolStatus[status], result: null, error: ended }
  }
  if ("Err" in result) {
    return { status: "failed" as const, result: null, error: { message: result.Err } }
  }
  const failed = isRecord(result.Ok) && result.Ok["isError"] === true
  return {
    status: failed ? ("failed" as const) : ("completed" as const),
    result: mcpResult(result.Ok),
    error: null,
  }
}

/** A call of a tool of a tool server. */
const mcpToolCall = (
  { completedAtMs, id, startedAtMs }: Identity,
  item: McpToolCallItem,
): Items.McpToolCall => ({
  type: "mcpToolCall",
  id,
  server: item.server,
  tool: item.tool,
  arguments: item.arguments,
  ...mcpOutcome(item),
  durationMs: millis(item.durationMs),
  readOnlyHint: item.readOnly ?? null,
  appContext: null,
  mcpAppUi: null,
  pluginId: null,
  startedAtMs,
  completedAtMs,
})

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "")

/** A call of a tool of the client, or of the embedding application. */
const dynamicToolCall = (
  { completedAtMs, id, startedAtMs }: Identity,
  item: Pick<ToolCallItem, "tool" | "arguments" | "status"> & Partial<ToolCallItem>,
): Items.DynamicToolCall => {
  const { content, result } = item
  return {
    type: "dynamicToolCall",
    id,
    namespace: item.namespace ?? null,
    tool: item.tool,
    arguments: item.arguments,
    status: toolStatus[item.status],
    contentItems:
      content?.map(contentOf) ??
      (result === undefined
        ? null
        : [{ type: "inputText", text: "Ok" in result ? textOf(result.Ok) : result.Err }]),
    success: result === undefined ? null : "Ok" in result,
    durationMs: millis(item.durationMs),
    startedAtMs,
    completedAtMs,
  }
}

/** A search of the provider, whose words are known at its end. */
const webSearch = (
  { completedAtMs, id, startedAtMs }: Identity,
  { query }: WebSearchItem,
): Items.WebSearch => ({
  type: "webSearch",
  id,
  query: query ?? "",
  action: query === undefined ? null : { type: "search", query, queries: null },
  results: null,
  startedAtMs,
  completedAtMs,
})

/** What the user wrote. */
export const userMessage = (
  { completedAtMs, id, startedAtMs }: Identity,
  {
    clientId,
    images,
    parts,
    text,
  }: Pick<UserMessageItem, "clientId" | "images" | "parts" | "text">,
): Items.UserMessage => ({
  type: "userMessage",
  id,
  clientId: clientId ?? null,
  content: parts?.map((part) => inputOfPart(part, images)) ?? [
    ...(text === "" && images.length > 0
      ? []
      : [{ type: "text" as const, text, text_elements: [] }]),
    ...images.map((url) => ({ type: "image" as const, url, detail: null })),
  ],
  startedAtMs,
  completedAtMs,
})

/** The message that a review begins with, as the response that starts it has it. */
export const reviewedMessage = (turnId: string, text: string): Items.UserMessage => ({
  ...userMessage(
    { id: firstItemId(turnId, "user_message"), startedAtMs: 0, completedAtMs: null },
    { images: [], text },
  ),
  startedAtMs: null,
})

/** An image file that the model read. */
export const imageView = (
  { completedAtMs, id, startedAtMs }: Identity,
  { path }: ImageViewItem,
): Items.ImageView => ({ type: "imageView", id, path, startedAtMs, completedAtMs })

/** A message of the model. */
export const agentMessage = (
  { completedAtMs, id, startedAtMs }: Identity,
  text: string,
): Items.AgentMessage => ({
  type: "agentMessage",
  moderation: null,
  id,
  text,
  phase: null,
  memoryCitation: null,
  delivery: null,
  questions: null,
  startedAtMs,
  completedAtMs,
})

/** The item that the call of a question will be, while its answer is pending and after it was declined. */
export const questionedCall = (
  identity: Identity,
  { kind, subject }: QuestionItem,
  status: "running" | "declined",
): CallThreadItem | undefined => {
  if (kind === "command" && "command" in subject) {
    return commandExecution(identity, { ...subject, status }, "agent")
  }
  if (kind === "file_change" && "changes" in subject) {
    return fileChange(identity, { ...subject, status })
  }
  if (kind === "tool" && "tool" in subject) {
    return dynamicToolCall(identity, { ...subject, status })
  }
  return undefined
}

/** The item of a call. */
export const callItem = (
  identity: Identity,
  item: Exclude<CallItem, QuestionItem>,
): CallThreadItem => {
  switch (item.type) {
    case "command":
      return commandExecution(
        identity,
        item,
        item.source === "user_shell" ? "userShell" : "unifiedExecStartup",
      )
    case "file_change":
      return fileChange(identity, item)
    case "mcp_tool_call":
      return mcpToolCall(identity, item)
    case "tool_call":
      return dynamicToolCall(identity, item)
    case "web_search":
      return webSearch(identity, item)
  }
}
