/**
 * The dialect `codex-mcp`: the Model Context Protocol with the `codex` tools and the `codex/event` notification
 * of the original's `mcp-server`. The only place where these method names are written.
 */
import * as Schema from "effect/Schema"
import { AnyEventMsg } from "../EventMsg.ts"
import { isShort, maxShortLength, RequestId } from "../JsonRpc.ts"
import { dialect, notification, request } from "../Method.ts"
import { CreateMessage, RootsList } from "./ClientFeatures.ts"
import { Discover } from "./Discover.ts"
import { ElicitParams } from "./Elicitation.ts"
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
import { type HandshakeVersion, handshakeVersions } from "./Revisions.ts"
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

/** What `initialize` can agree on, newest first. */
export const protocolVersions = handshakeVersions
export type ProtocolVersion = HandshakeVersion

/** The offered revision if it is spoken here, else the newest (MCP lifecycle: counter-offer, never refuse). */
export const negotiate = (offered: string): ProtocolVersion =>
  protocolVersions.find((version) => version === offered) ?? protocolVersions[0]

const Open = Schema.Record(Schema.String, Schema.Unknown)
const Meta = Schema.optionalKey(Open)

/** What the progress of one request is told under: chosen by its sender, given back as it came. */
export const ProgressToken = RequestId.check(
  Schema.makeFilter((token) =>
    isShort(token) ? undefined : `Expected at most ${maxShortLength} characters`,
  ),
)
export type ProgressToken = typeof ProgressToken.Type

/** Of a request whose progress can be told; some clients write `null` for no token. */
const CallMeta = Schema.optionalKey(
  Schema.StructWithRest(
    Schema.Struct({ progressToken: Schema.optionalKey(Schema.NullOr(ProgressToken)) }),
    [Open],
  ),
)

const Implementation = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  version: Schema.String,
})

export const InitializeParams = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: Open,
  clientInfo: Implementation,
})
export type InitializeParams = typeof InitializeParams.Type

const InitializeResult = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: Open,
  serverInfo: Implementation,
  instructions: Schema.optionalKey(Schema.String),
})

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
  /** From 2025-11-25 on, and no more in 2026-07-28: whether a client may ask for a task. */
  execution: Schema.optionalKey(Open),
})

const TextContent = Schema.Struct({
  type: Schema.Literal("text"),
  text: Schema.String,
  annotations: Schema.optionalKey(Open),
  _meta: Meta,
})

const UnknownContent = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Open])

export const CallToolResult = Schema.Struct({
  content: Schema.Array(Schema.Union([TextContent, UnknownContent])),
  structuredContent: Schema.optionalKey(Open),
  isError: Schema.optionalKey(Schema.Boolean),
  _meta: Meta,
})
export type CallToolResult = typeof CallToolResult.Type

export const Initialize = request("initialize", {
  params: InitializeParams,
  result: InitializeResult,
  since: "2024-11-05",
  until: "2026-07-28",
  cancellable: false,
  doc: "Agrees on a protocol revision and on capabilities; once per connection.",
})

export const Ping = request("ping", {
  result: Schema.Struct({}),
  since: "2024-11-05",
  until: "2026-07-28",
  doc: "Tells that the other side is alive.",
})

export const ToolsList = request("tools/list", {
  params: Schema.Struct({ cursor: Schema.optionalKey(Schema.String), _meta: Meta }),
  result: Schema.Struct({
    tools: Schema.Array(Tool),
    nextCursor: Schema.optionalKey(Schema.String),
  }),
  since: "2024-11-05",
  // A list may change at any time, and may be another for somebody else.
  cache: { ttlMs: 0, scope: "private" },
  doc: "The tools, a page at a time.",
})

export const ToolsCall = request("tools/call", {
  /** `arguments` stays unread here: what is wrong with it is told in the result, where a model can see it. */
  params: Schema.Struct({
    name: Schema.String,
    arguments: Schema.optionalKey(Schema.Unknown),
    /** Asks for a task (2025-11-25); other revisions ignore it, whatever it is. */
    task: Schema.optionalKey(Schema.Unknown),
    _meta: CallMeta,
  }),
  result: CallToolResult,
  since: "2024-11-05",
  mayAsk: true,
  doc: "Runs one tool; the answer comes when it has ended.",
})

export const Initialized = notification("notifications/initialized", {
  since: "2024-11-05",
  until: "2026-07-28",
  doc: "The client has read the answer to `initialize`.",
})

export const Cancelled = notification("notifications/cancelled", {
  params: Schema.Struct({
    requestId: RequestId,
    reason: Schema.optionalKey(Schema.String),
  }),
  since: "2024-11-05",
  doc: "The sender no longer wants the answer of that request: its work stops and no answer follows.",
})

export const Progress = notification("notifications/progress", {
  params: Schema.Struct({
    progressToken: ProgressToken,
    /** Rises from one notification of a token to the next; how far there is to go is not known. */
    progress: Schema.Finite,
    total: Schema.optionalKey(Schema.Finite),
    /** For a person: one short line. From 2025-03-26 on, and no harm before. */
    message: Schema.optionalKey(Schema.String),
    _meta: Meta,
  }),
  since: "2024-11-05",
  doc: "Tells how far a request is that named a progress token; none follows its answer.",
})

/** The extension by which a client of 2026-07-28 asks for `codex/event`. */
export const eventsExtension = "colloquy/codex-event"

/** One event of the conversation that a tool call runs (§1.8). */
export const CodexEvent = notification("codex/event", {
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
  since: "0.20",
  doc: [
    "An event of the conversation, tied to the tool call that runs it by `_meta.requestId` and sent on the stream of that call, before its response.",
    'A client that agreed on a revision by `initialize` gets it unless it declares `capabilities.experimental["codex/event"]: { "enabled": false }`.',
    `A request of 2026-07-28 gets it when the client capabilities in its \`_meta\` declare \`extensions["${eventsExtension}"]: {}\` or \`experimental["codex/event"]: {}\`, and otherwise only from a server with \`mcp_events = "always"\`; \`server/discover\` lists the extension while the server sends events.`,
  ].join(" "),
})

/** The answer is decoded later: whatever it is, it ends in a decision (`readDecision`). */
export const Elicit = request("elicitation/create", {
  params: ElicitParams,
  result: Schema.Unknown,
  since: "2025-06-18",
  capability: "elicitation",
  doc: "Asks the person at the client whether a command may run or a patch may be applied. `decline` and `cancel` deny it, and the turn continues; the decision `abort` stops the turn. The form of a tool server is answered with the action that the client chose.",
})

/** `events` is the whole history, deltas only of what is still being said (§2.4). */
export const InitialState = notification("notifications/initial_state", {
  params: InitialStateParams,
  since: "0.20",
  doc: "All events of a streamed conversation so far; those that follow come under their own names.",
})

export const StreamDisconnected = notification("notifications/stream_disconnected", {
  params: StreamDisconnectedParams,
  since: "0.20",
  doc: "Another stream took over, or the conversation ended: nothing more comes of this stream.",
})

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
