/** The notifications of app-server v2 that this program never sends, with the reasons. Pure. */
import {
  DeprecationNotice,
  FileChangeOutputDelta,
  FileChangePatchUpdated,
  McpServerStartupStatusUpdated,
  PlanDelta,
  RawResponseCompleted,
  TerminalInteraction,
  ThreadGoalCleared,
} from "./Notifications.ts"
import type { UnsupportedMethods } from "./Unsupported.ts"

/** Notifications that are defined, because clients know them, and never sent. */
export const unsentNotifications: ReadonlyArray<UnsupportedMethods> = [
  {
    methods: [DeprecationNotice._tag],
    reason: "no method and no key is deprecated",
  },
  {
    methods: [ThreadGoalCleared._tag],
    reason: "threads have no goals",
  },
  {
    methods: [McpServerStartupStatusUpdated._tag],
    reason:
      "tool servers are shared by threads and start when the first of them needs their tools; `mcpServerStatus/list` reports them",
  },
  {
    methods: [RawResponseCompleted._tag],
    reason: "the log has no ids of responses; `thread/tokenUsage/updated` has the usage of each",
  },
  {
    methods: [PlanDelta._tag],
    reason: "the agent writes its plan with a tool, which is reported whole by `turn/plan/updated`",
  },
  {
    methods: [FileChangeOutputDelta._tag],
    reason: "patches are applied by this program itself, which prints nothing",
  },
  {
    methods: [FileChangePatchUpdated._tag],
    reason: "the arguments of a tool are not reported before the model has sent all of them",
  },
  {
    methods: [TerminalInteraction._tag],
    reason: "the agent has no tool that writes to a running command",
  },
]
