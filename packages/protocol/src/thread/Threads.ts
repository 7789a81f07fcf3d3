/** Methods of app-server v2 that create, resume, fork, read and list threads. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { request } from "../Method.ts"
import { AnyThreadItem } from "./Items.ts"
import {
  CollaborationMode,
  ItemsView,
  ReadState,
  Thread,
  threadAndSettings,
  Turn,
} from "./Thread.ts"
import {
  ApprovalsReviewerParam,
  AskForApprovalParam,
  atMs,
  maybe,
  Open,
  orNull,
  pageParams,
  Personality,
  SandboxMode,
  SortDirection,
} from "./Values.ts"

const since = "0.58"

/** A tool of the client, which the server calls with `item/tool/call`. */
export const DynamicTool = Schema.Struct({
  type: maybe(Schema.Literal("function")),
  name: Schema.String,
  description: Schema.String,
  inputSchema: Open,
  namespace: maybe(Schema.String),
}).annotate({ identifier: "DynamicTool" })
/** A decoded `DynamicTool`. */
export type DynamicTool = typeof DynamicTool.Type

const overrides = {
  model: maybe(Schema.NonEmptyString),
  modelProvider: maybe(Schema.String),
  /** A relative one counts from the directory of the server. */
  cwd: maybe(SystemText),
  approvalPolicy: maybe(AskForApprovalParam),
  approvalsReviewer: maybe(ApprovalsReviewerParam),
  sandbox: maybe(SandboxMode),
  /** Keys of config.toml, dotted or nested. */
  config: maybe(Open),
  baseInstructions: maybe(Schema.String),
  developerInstructions: maybe(Schema.String),
  personality: maybe(Personality),
  serviceTier: maybe(Schema.String),
  permissions: maybe(Schema.String),
  runtimeWorkspaceRoots: maybe(Schema.Array(SystemText)),
}

const experimentalOverrides = ["permissions", "runtimeWorkspaceRoots"]

/** Creates a thread. */
export const ThreadStart = request("thread/start", {
  params: Schema.Struct({
    ...overrides,
    /** True: it is in no store. Default false. */
    ephemeral: maybe(Schema.Boolean),
    serviceName: maybe(Schema.String),
    sessionStartSource: maybe(Schema.String),
    threadSource: maybe(Schema.Unknown),
    projectId: maybe(Schema.String),
    historyMode: maybe(Schema.Literals(["paginated", "legacy"])),
    environments: maybe(Schema.Array(Schema.Unknown)),
    dynamicTools: maybe(Schema.Array(DynamicTool)),
    multiAgentMode: maybe(Schema.String),
    /** True: what the model is sent and what it sends is notified as well. Default false. */
    experimentalRawEvents: maybe(Schema.Boolean),
  }),
  result: Schema.Struct(threadAndSettings),
  experimental: [
    ...experimentalOverrides,
    "historyMode",
    "environments",
    "dynamicTools",
    "multiAgentMode",
    "experimentalRawEvents",
  ],
  cancellable: false,
  since,
  doc: "Creates a thread and subscribes to it. Nothing of it is listed before its first turn.",
})

const turnsPage = Schema.Struct({
  data: Schema.Array(Turn),
  nextCursor: orNull(Schema.String),
  backwardsCursor: orNull(Schema.String),
})

const resumed = {
  collaborationMode: orNull(CollaborationMode),
  initialTurnsPage: orNull(turnsPage),
  turnsBackwardsCursor: orNull(Schema.String),
  itemsBackwardsCursor: orNull(Schema.String),
}

const turnsPageParams = {
  limit: pageParams.limit,
  sortDirection: maybe(SortDirection),
  itemsView: maybe(ItemsView),
}

/** Loads a stored thread, or subscribes to a loaded one. */
export const ThreadResume = request("thread/resume", {
  params: Schema.Struct({
    threadId: Schema.String,
    ...overrides,
    /** True: the result has no turns. Default false. */
    excludeTurns: maybe(Schema.Boolean),
    initialTurnsPage: maybe(Schema.Struct(turnsPageParams)),
    history: maybe(Schema.Array(Open)),
    /** Path of a rollout file; it counts instead of `threadId`. */
    path: maybe(SystemText),
  }),
  result: Schema.Struct({ ...threadAndSettings, ...resumed }),
  experimental: [...experimentalOverrides, "history", "path"],
  cancellable: false,
  since,
  doc: "Subscribes to a thread, loads it if needed, and applies the given settings to its next turns. A running turn is in the result with its finished items; pending questions follow the response.",
})

/** Creates a thread from the beginning of another one. */
export const ThreadFork = request("thread/fork", {
  params: Schema.Struct({
    threadId: Schema.String,
    /** The last turn that is copied. */
    lastTurnId: maybe(Schema.String),
    /** Alternative: the first turn that is not copied. */
    beforeTurnId: maybe(Schema.String),
    ...overrides,
    ephemeral: maybe(Schema.Boolean),
    excludeTurns: maybe(Schema.Boolean),
    threadSource: maybe(Schema.Unknown),
    path: maybe(SystemText),
  }),
  result: Schema.Struct({ ...threadAndSettings }),
  experimental: [...experimentalOverrides, "path"],
  cancellable: false,
  since: "0.64",
  doc: "Creates a thread with the ended turns of another one, by default all of them, and subscribes to it. A turn that still runs goes on there, and the copy has no part of it.",
})

/** Reads a thread without loading it. */
export const ThreadRead = request("thread/read", {
  params: Schema.Struct({ threadId: Schema.String, includeTurns: maybe(Schema.Boolean) }),
  result: Schema.Struct({ thread: Thread, readState: orNull(ReadState) }),
  since: "0.88",
  doc: "Reads a thread, with its turns if asked for. Loads nothing.",
})

/** Kinds of programs that create threads. */
export const SourceKind = Schema.Literals([
  "cli",
  "vscode",
  "exec",
  "appServer",
  "subAgent",
  "subAgentReview",
  "subAgentCompact",
  "subAgentThreadSpawn",
  "subAgentOther",
  "unknown",
])

/** Lists stored threads. */
export const ThreadList = request("thread/list", {
  params: Schema.Struct({
    ...pageParams,
    /** Default `created_at`. */
    sortKey: maybe(Schema.Literals(["created_at", "updated_at", "recency_at", "section_position"])),
    /** Default `desc`. */
    sortDirection: maybe(SortDirection),
    modelProviders: maybe(Schema.Array(Schema.String)),
    /** Default: clients of an app-server. */
    sourceKinds: maybe(Schema.Array(SourceKind)),
    /** True: only archived ones. Default false: only the others. */
    archived: maybe(Schema.Boolean),
    cwd: maybe(Schema.Union([SystemText, Schema.Array(SystemText)])),
    /** Part of the preview or of the name. */
    searchTerm: maybe(Schema.String),
    excludedThreadIds: maybe(Schema.Array(Schema.String)),
    useStateDbOnly: maybe(Schema.Boolean),
    currentAccountOnly: maybe(Schema.Boolean),
    originators: maybe(Schema.Array(Schema.String)),
    sectionId: maybe(Schema.String),
    projectId: maybe(Schema.String),
    parentThreadId: maybe(Schema.String),
  }),
  result: Schema.Struct({
    data: Schema.Array(Thread),
    readStates: orNull(Schema.Record(Schema.String, ReadState)),
    nextCursor: orNull(Schema.String),
    backwardsCursor: orNull(Schema.String),
  }),
  since,
  doc: "Lists the stored threads that have a user message, in pages.",
})

/** Lists the turns of a thread. */
export const ThreadTurnsList = request("thread/turns/list", {
  params: Schema.Struct({
    threadId: Schema.String,
    cursor: pageParams.cursor,
    ...turnsPageParams,
  }),
  result: turnsPage,
  since: "0.110",
  doc: "Lists the turns of a thread in pages, by default newest first and each with its first user message and its last agent message. Loads nothing.",
})

/** Lists the items of a thread. */
export const ThreadItemsList = request("thread/items/list", {
  params: Schema.Struct({
    threadId: Schema.String,
    turnId: maybe(Schema.String),
    ...pageParams,
    /** Default `asc`. */
    sortDirection: maybe(SortDirection),
  }),
  result: Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        turnId: Schema.String,
        item: AnyThreadItem,
        startedAtMs: orNull(atMs),
        completedAtMs: orNull(atMs),
      }),
    ),
    nextCursor: orNull(Schema.String),
    backwardsCursor: orNull(Schema.String),
  }),
  since: "0.140",
  doc: "Lists the items of a thread, or of one turn, in pages. Loads nothing.",
})

/** Lists the threads that were started, forked or resumed since the server started. */
export const ThreadLoadedList = request("thread/loaded/list", {
  params: Schema.Struct(pageParams),
  result: Schema.Struct({
    /** Ids. */
    data: Schema.Array(Schema.String),
    nextCursor: orNull(Schema.String),
  }),
  since: "0.75",
  doc: "Lists the ids of the threads that were started, forked or resumed since the server started and not archived or deleted since, ephemeral ones included; the last 10,000 at most. Such a thread may have left memory: it is loaded again when it is used.",
})

/** Summarises a stored conversation. */
export const GetConversationSummary = request("getConversationSummary", {
  params: Schema.Union([
    Schema.Struct({ conversationId: Schema.String }),
    Schema.Struct({ rolloutPath: SystemText }),
  ]),
  result: Schema.Struct({
    summary: Schema.Struct({
      conversationId: Schema.String,
      path: Schema.String,
      preview: Schema.String,
      /** ISO 8601. */
      timestamp: orNull(Schema.String),
      updatedAt: orNull(Schema.String),
      modelProvider: Schema.String,
      cwd: Schema.String,
      cliVersion: Schema.String,
      source: Schema.String,
      gitInfo: orNull(
        Schema.Struct({
          sha: orNull(Schema.String),
          branch: orNull(Schema.String),
          origin_url: orNull(Schema.String),
        }),
      ),
    }),
  }),
  since: "0.58",
  doc: "Summarises a stored thread: what `thread/list` reports of it, in an older form.",
})
