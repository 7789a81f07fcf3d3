/**
 * The dialect `app-server` v2: threads, turns and items over plain JSON-RPC, on the same connection as v1. Its methods are
 * defined in this folder; no other code contains their names. The wire: packages/docs/wire/app-server-v2.md.
 */
import { Initialize, Initialized } from "../app/Session.ts"
import { dialect } from "../Method.ts"
import * as Changes from "./ThreadChanges.ts"
import * as Notifications from "./Notifications.ts"
import * as Questions from "./Questions.ts"
import * as Threads from "./Threads.ts"
import * as Turns from "./Turns.ts"

/** The dialect with all its methods. */
export const AppServerV2 = dialect({
  name: "app-server-v2",
  command: "colloquy app-server",
  clientToServer: [
    Initialize,
    Initialized,
    Threads.ThreadStart,
    Threads.ThreadResume,
    Threads.ThreadFork,
    Threads.ThreadRead,
    Threads.ThreadList,
    Threads.ThreadTurnsList,
    Threads.ThreadItemsList,
    Threads.ThreadLoadedList,
    Changes.ThreadNameSet,
    Changes.ThreadArchive,
    Changes.ThreadUnarchive,
    Changes.ThreadDelete,
    Changes.ThreadUnsubscribe,
    Changes.ThreadCompactStart,
    Changes.ThreadRevert,
    Changes.ThreadShellCommand,
    Changes.ThreadSettingsUpdate,
    Changes.ThreadReadStateUpdate,
    Changes.ThreadQueueAdd,
    Changes.ThreadQueueList,
    Changes.ThreadQueueDelete,
    Turns.TurnStart,
    Turns.TurnSteer,
    Turns.TurnInterrupt,
    Turns.ReviewStart,
  ],
  serverToClient: [
    Questions.CommandApproval,
    Questions.FileChangeApproval,
    Questions.PermissionsApproval,
    Questions.RequestUserInput,
    Questions.ToolCall,
    Questions.McpElicitation,
    Notifications.ThreadStarted,
    Notifications.ThreadStatusChanged,
    Notifications.ThreadSettingsUpdated,
    Notifications.ThreadNameUpdated,
    Notifications.ThreadArchived,
    Notifications.ThreadUnarchived,
    Notifications.ThreadDeleted,
    Notifications.ThreadReverted,
    Notifications.ThreadClosed,
    Notifications.ThreadGoalCleared,
    Notifications.ThreadQueueChanged,
    Notifications.ThreadReadStateChanged,
    Notifications.ThreadTokenUsageUpdated,
    Notifications.TurnStarted,
    Notifications.TurnCompleted,
    Notifications.TurnDiffUpdated,
    Notifications.TurnPlanUpdated,
    Notifications.ItemStarted,
    Notifications.ItemCompleted,
    Notifications.AgentMessageDelta,
    Notifications.PlanDelta,
    Notifications.CommandOutputDelta,
    Notifications.TerminalInteraction,
    Notifications.ReasoningSummaryPartAdded,
    Notifications.ReasoningSummaryTextDelta,
    Notifications.ReasoningTextDelta,
    Notifications.McpToolCallProgress,
    Notifications.FileChangePatchUpdated,
    Notifications.ErrorNotification,
    Notifications.Warning,
    Notifications.ConfigWarning,
    Notifications.DeprecationNotice,
    Notifications.ServerRequestResolved,
    Notifications.McpServerStartupStatusUpdated,
    Notifications.RawResponseItemCompleted,
  ],
})
