/** The objects `Thread` and `Turn` of app-server v2, and the settings that results report beside a thread. */
import * as Schema from "effect/Schema"
import { AnyThreadItem } from "./Items.ts"
import {
  ApprovalsReviewer,
  AskForApproval,
  atSeconds,
  maybe,
  none,
  orNull,
  orUnknown,
  Personality,
  ReasoningSummary,
  SandboxPolicy,
  ThreadStatus,
  TurnError,
} from "./Values.ts"

/** How a turn is, or ended. */
export const TurnStatus = Schema.Literals(["inProgress", "completed", "interrupted", "failed"])

/** How much of a turn's items is there: none, the first message of the user and the last one of the agent, or all. */
export const ItemsView = Schema.Literals(["notLoaded", "summary", "full"])

/** A turn of a thread. */
export const Turn = Schema.Struct({
  id: Schema.String,
  rootTurnId: orNull(Schema.String),
  items: Schema.Array(AnyThreadItem),
  itemsView: ItemsView,
  status: orUnknown(TurnStatus),
  error: orNull(TurnError),
  startedAt: orNull(atSeconds),
  completedAt: orNull(atSeconds),
  durationMs: orNull(Schema.Int),
}).annotate({ identifier: "Turn" })
/** A decoded `Turn`. */
export type Turn = typeof Turn.Type

/** Where the commands of a thread run. */
export const Environment = Schema.Struct({
  environmentId: Schema.String,
  cwd: Schema.String,
  runtimeWorkspaceRoots: Schema.Array(Schema.String),
}).annotate({ identifier: "Environment" })

/** A conversation, as this dialect shows it. */
export const Thread = Schema.Struct({
  id: Schema.String,
  /** Null while it is not loaded. */
  environments: orNull(Schema.Array(Environment)),
  extra: none,
  /** Equal to `id`. */
  sessionId: Schema.String,
  forkedFromId: orNull(Schema.String),
  attachedToThreadId: none,
  parentThreadId: none,
  /** Beginning of the first user message; empty before there is one. */
  preview: Schema.String,
  /** True: it is in no store, and gone with its process. */
  ephemeral: Schema.Boolean,
  section: none,
  sectionEnteredAt: none,
  projectId: none,
  historyMode: orUnknown(Schema.Literals(["paginated", "legacy"])),
  modelProvider: Schema.String,
  model: orNull(Schema.String),
  reasoningEffort: orNull(Schema.String),
  createdAt: atSeconds,
  updatedAt: atSeconds,
  recencyAt: orNull(atSeconds),
  status: orUnknown(ThreadStatus),
  /** Its rollout file; null if it has none. */
  path: orNull(Schema.String),
  cwd: Schema.String,
  /** Version of the program that created it. */
  cliVersion: Schema.String,
  /** The client that created it. */
  originator: orNull(Schema.String),
  /** Kind of the program that created it: `vscode` for clients of an app-server, `exec`, `cli` … */
  source: Schema.String,
  /** True where it was started or resumed on this server; null in lists. */
  canAcceptDirectInput: orNull(Schema.Boolean),
  threadSource: none,
  agentNickname: none,
  agentRole: none,
  gitInfo: orNull(
    Schema.Struct({
      sha: orNull(Schema.String),
      branch: orNull(Schema.String),
      originUrl: orNull(Schema.String),
    }),
  ),
  name: orNull(Schema.String),
  daybreakEnabled: none,
  /** Empty except in results that say so. */
  turns: Schema.Array(Turn),
}).annotate({ identifier: "Thread" })
/** A decoded `Thread`. */
export type Thread = typeof Thread.Type

/** The name of a built-in set of permissions, and what it extends. */
export const ActivePermissionProfile = Schema.Struct({
  id: Schema.String,
  extends: orNull(Schema.String),
})

/** How the agent works with the user: by a plan first, or directly. */
export const CollaborationMode = Schema.Struct({
  mode: Schema.Literals(["plan", "default"]),
  settings: Schema.Struct({
    model: Schema.String,
    reasoning_effort: orNull(Schema.String),
    developer_instructions: orNull(Schema.String),
  }),
}).annotate({ identifier: "CollaborationMode" })

/** `CollaborationMode` as a client gives it: without an effort or instructions, and with null, it has those of the mode. */
export const CollaborationModeParam = Schema.Struct({
  mode: Schema.Literals(["plan", "default"]),
  settings: Schema.Struct({
    model: Schema.String,
    reasoning_effort: maybe(Schema.String),
    developer_instructions: maybe(Schema.String),
  }),
}).annotate({ identifier: "CollaborationModeParam" })

const MultiAgentMode = Schema.Literals(["explicitRequestOnly"])

/** A thread with the settings of its next turn. */
export const threadAndSettings = {
  thread: Thread,
  model: Schema.String,
  modelProvider: Schema.String,
  serviceTier: orNull(Schema.String),
  disabledPluginIds: Schema.Array(Schema.String),
  cwd: Schema.String,
  runtimeWorkspaceRoots: Schema.Array(Schema.String),
  /** Absolute paths of the AGENTS.md files that the thread was started with. */
  instructionSources: Schema.Array(Schema.String),
  approvalPolicy: orUnknown(AskForApproval),
  approvalsReviewer: orUnknown(ApprovalsReviewer),
  sandbox: orUnknown(SandboxPolicy),
  activePermissionProfile: orNull(ActivePermissionProfile),
  reasoningEffort: orNull(Schema.String),
  multiAgentMode: orUnknown(MultiAgentMode),
}

/** The settings of a thread's next turn. */
export const ThreadSettings = Schema.Struct({
  disabledPluginIds: Schema.Array(Schema.String),
  cwd: Schema.String,
  environments: Schema.Array(Environment),
  approvalPolicy: orUnknown(AskForApproval),
  approvalsReviewer: orUnknown(ApprovalsReviewer),
  sandboxPolicy: orUnknown(SandboxPolicy),
  activePermissionProfile: orNull(ActivePermissionProfile),
  model: Schema.String,
  modelProvider: Schema.String,
  serviceTier: orNull(Schema.String),
  effort: orNull(Schema.String),
  summary: orNull(ReasoningSummary),
  collaborationMode: CollaborationMode,
  multiAgentMode: orUnknown(MultiAgentMode),
  personality: orNull(Personality),
}).annotate({ identifier: "ThreadSettings" })
/** A decoded `ThreadSettings`. */
export type ThreadSettings = typeof ThreadSettings.Type

/** Which turns of a thread the user has not seen. */
export const ReadState = Schema.Struct({
  firstUnread: orNull(
    Schema.Union([
      Schema.Struct({ type: Schema.Literal("turn"), turnId: Schema.String }),
      Schema.Struct({ type: Schema.Literal("threadStart") }),
    ]),
  ),
  /** Changes with each change; a client that changes the state names the one it has seen. */
  revision: Schema.String,
}).annotate({ identifier: "ReadState" })
/** A decoded `ReadState`. */
export type ReadState = typeof ReadState.Type
