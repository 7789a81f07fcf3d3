/**
 * The dialect `codex-mcp`: the Model Context Protocol with the `codex` tools and the `codex/event` notification of the
 * original's `mcp-server`. Method names of the dialect are written in this folder only. The wire:
 * packages/docs/wire/codex-mcp.md and packages/docs/wire/mcp.md.
 */
import * as Schema from "effect/Schema"
import { AnyEventMsg } from "../EventMsg.ts"
import { isShort, maxShortLength, RequestId } from "../JsonRpc.ts"
import { dialect, notification, request } from "../Method.ts"
import { CreateMessage, RootsList } from "./ClientFeatures.ts"
import { Discover } from "./Discover.ts"
import { ElicitParams } from "./Elicitation.ts"
import { codexEvent, eventsExtension } from "./Extensions.ts"
import {
  initializeInfo,
  initializeMethod,
  InitializeParams,
  InitializeResult,
} from "./Initialize.ts"
import { LoggingSetLevel, LogMessage } from "./Logging.ts"
import { CompletionComplete, PromptsGet, PromptsList } from "./Prompts.ts"
import {
  PromptsListChanged,
  ResourcesList,
  ResourcesListChanged,
  ResourcesRead,
  ResourcesSubscribe,
  ResourcesTemplatesList,
  ResourcesUnsubscribe,
  ResourceUpdated,
  ToolsListChanged,
} from "./Resources.ts"
import { SubscriptionsAcknowledged, SubscriptionsListen } from "./Subscriptions.ts"
import { InitialStateParams, StreamDisconnectedParams } from "./StreamNotifications.ts"
import {
  relatedTask,
  TasksCancel,
  TasksChanged,
  TasksGet,
  TasksList,
  TasksResult,
  TasksStatus,
  TasksUpdate,
} from "./Tasks.ts"

const Open = Schema.Record(Schema.String, Schema.Unknown)
const Meta = Schema.optionalKey(Open)

/** Names a request in its progress notifications: chosen by the sender of the request, and sent back unchanged. */
export const ProgressToken = RequestId.check(
  Schema.makeFilter((token) =>
    isShort(token) ? undefined : `Expected at most ${maxShortLength} characters`,
  ),
)
/** A decoded `ProgressToken`. */
export type ProgressToken = typeof ProgressToken.Type

/** `_meta` of a request that may report progress. Some clients send `null` for no token. */
const CallMeta = Schema.optionalKey(
  Schema.StructWithRest(
    Schema.Struct({ progressToken: Schema.optionalKey(Schema.NullOr(ProgressToken)) }),
    [Open],
  ),
)

const Tool = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  inputSchema: Open,
  outputSchema: Schema.optionalKey(Open),
  annotations: Schema.optionalKey(Open),
  /** From 2025-11-25 on. */
  icons: Schema.optionalKey(Schema.Array(Open)),
  _meta: Meta,
  /** From 2025-11-25 on, not in 2026-07-28: whether a client may run the tool as a task. */
  execution: Schema.optionalKey(Open),
})

const TextContent = Schema.Struct({
  type: Schema.Literal("text"),
  text: Schema.String,
  annotations: Schema.optionalKey(Open),
  _meta: Meta,
})

const UnknownContent = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Open])

/** The result of a tool call. */
export const CallToolResult = Schema.Struct({
  content: Schema.Array(Schema.Union([TextContent, UnknownContent])),
  structuredContent: Schema.optionalKey(Open),
  isError: Schema.optionalKey(Schema.Boolean),
  _meta: Meta,
})
/** A decoded `CallToolResult`. */
export type CallToolResult = typeof CallToolResult.Type

/** The handshake of revisions before 2026-07-28. */
export const Initialize = request(initializeMethod, {
  params: InitializeParams,
  result: InitializeResult,
  ...initializeInfo,
})

/** Checks that the peer responds. */
export const Ping = request("ping", {
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  doc: "Checks that the peer responds.",
})

/** Lists the tools. */
export const ToolsList = request("tools/list", {
  params: Schema.Struct({ cursor: Schema.optionalKey(Schema.String), _meta: Meta }),
  result: Schema.Struct({
    tools: Schema.Array(Tool),
    nextCursor: Schema.optionalKey(Schema.String),
  }),
  since: "2024-11-05",
  // The list may change at any time, and may differ between clients.
  cache: { ttlMs: 0, scope: "private" },
  doc: "Lists the tools, in pages.",
})

/** Calls a tool. */
export const ToolsCall = request("tools/call", {
  /** `arguments` is not decoded here: its faults are reported in the result, where a model can see them. */
  params: Schema.Struct({
    name: Schema.String,
    arguments: Schema.optionalKey(Schema.Unknown),
    /** Asks for a task (2025-11-25). Other revisions ignore it, whatever its value is. */
    task: Schema.optionalKey(Schema.Unknown),
    _meta: CallMeta,
  }),
  result: CallToolResult,
  since: "2024-11-05",
  mayAsk: true,
  doc: "Calls a tool. Responds when the call has ended.",
})

/** The client has received the response to `initialize`. */
export const Initialized = notification("notifications/initialized", {
  since: "2024-11-05",
  until: "2026-07-28",
  doc: "The client has received the response to `initialize`.",
})

/** Cancels a request, in both directions. */
export const Cancelled = notification("notifications/cancelled", {
  params: Schema.Struct({
    requestId: RequestId,
    reason: Schema.optionalKey(Schema.String),
  }),
  since: "2024-11-05",
  doc: "Cancels a request of the sender: its work stops and no response follows.",
})

/** Reports the progress of a request. */
export const Progress = notification("notifications/progress", {
  params: Schema.Struct({
    progressToken: ProgressToken,
    /** Increases with every notification of a token. The total is not known. */
    progress: Schema.Finite,
    total: Schema.optionalKey(Schema.Finite),
    /** One short line for a person. From 2025-03-26 on; older clients ignore it. */
    message: Schema.optionalKey(Schema.String),
    _meta: Meta,
  }),
  since: "2024-11-05",
  doc: "Reports the progress of a request that gave a progress token. None follows its response.",
})

/** One event of the conversation that a tool call runs. */
export const CodexEvent = notification(codexEvent, {
  params: Schema.Struct({
    _meta: Schema.optionalKey(
      Schema.Struct({
        requestId: Schema.optionalKey(Schema.NullOr(RequestId)),
        /** from 0.120 on */
        threadId: Schema.optionalKey(Schema.String),
        [relatedTask]: Schema.optionalKey(Schema.Struct({ taskId: Schema.String })),
      }),
    ),
    id: Schema.String,
    msg: AnyEventMsg,
  }),
  unchecked: true,
  since: "0.20",
  doc: [
    "An event of the conversation, tied to the tool call that runs it by `_meta.requestId` and sent on the stream of that call, before its response.",
    'A client that agreed on a revision by `initialize` gets it unless it declares `capabilities.experimental["codex/event"]: { "enabled": false }`.',
    `A request of 2026-07-28 gets it when the client capabilities in its \`_meta\` declare \`extensions["${eventsExtension}"]: {}\` or \`experimental["codex/event"]: {}\`, and otherwise only from a server with \`mcp_events = "always"\`; \`server/discover\` lists the extension while the server sends events.`,
  ].join(" "),
})

/** Asks a person. The result is decoded by `readDecision`, which makes a decision of any value. */
export const Elicit = request("elicitation/create", {
  params: ElicitParams,
  result: Schema.Unknown,
  since: "2025-06-18",
  capability: "elicitation",
  doc: "Asks the person at the client whether a command may run or a patch may be applied. `decline` and `cancel` deny it, and the turn continues; the decision `abort` interrupts the turn. For the form of a tool server, the client's action is passed on.",
})

/** The start of a stream: all events so far, with deltas only for texts that are still being received. */
export const InitialState = notification("notifications/initial_state", {
  params: InitialStateParams,
  since: "0.20",
  doc: "All events of a streamed conversation so far. Later events are sent as notifications named after their types.",
})

/** The end of a stream. */
export const StreamDisconnected = notification("notifications/stream_disconnected", {
  params: StreamDisconnectedParams,
  since: "0.20",
  doc: "The stream has ended, because another stream replaced it or the conversation ended.",
})

/** The dialect with all its methods. */
export const CodexMcp = dialect({
  name: "codex-mcp",
  command: "colloquy mcp",
  clientToServer: [
    Initialize,
    Discover,
    Ping,
    ToolsList,
    ToolsCall,
    TasksGet,
    TasksResult,
    TasksList,
    TasksCancel,
    TasksUpdate,
    ResourcesList,
    ResourcesTemplatesList,
    ResourcesRead,
    ResourcesSubscribe,
    ResourcesUnsubscribe,
    PromptsList,
    PromptsGet,
    CompletionComplete,
    LoggingSetLevel,
    SubscriptionsListen,
    Initialized,
    Cancelled,
  ],
  serverToClient: [
    Ping,
    CodexEvent,
    Elicit,
    CreateMessage,
    RootsList,
    Progress,
    LogMessage,
    ToolsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    PromptsListChanged,
    SubscriptionsAcknowledged,
    InitialState,
    StreamDisconnected,
    TasksStatus,
    TasksChanged,
    Cancelled,
  ],
})
