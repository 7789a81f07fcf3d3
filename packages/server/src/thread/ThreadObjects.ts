/** Threads and their settings as this dialect writes them. Pure. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ConversationSummary } from "@colloquy/core/ConversationStore"
import { modeInstructionsOf } from "@colloquy/core/turn/CollaborationMode"
import type { SandboxPolicy as CorePolicy } from "@colloquy/protocol/Policy"
import type { Thread, ThreadSettings, Turn } from "@colloquy/protocol/thread/Thread"
import type { SandboxPolicy, ThreadStatus } from "@colloquy/protocol/thread/Values"
import type { AskForApproval } from "@colloquy/protocol/thread/Values"
import { shownPolicy } from "./questions/ApprovalPolicies.ts"

/** What the store does not know of a thread. */
export interface LiveFacts {
  /** Undefined for a thread that is not in memory. */
  readonly settings?: ConversationSettings
  readonly status: ThreadStatus
  readonly ephemeral: boolean
  readonly turns?: ReadonlyArray<Turn>
  /** The thread was started or resumed here. */
  readonly acceptsInput: boolean
}

const seconds = (ms: number): number => Math.floor(ms / 1000)

const environmentOf = (cwd: string) => ({
  environmentId: "local",
  cwd,
  runtimeWorkspaceRoots: [cwd],
})

/** What this program does not have. */
const absent = {
  extra: null,
  attachedToThreadId: null,
  parentThreadId: null,
  section: null,
  sectionEnteredAt: null,
  projectId: null,
  threadSource: null,
  agentNickname: null,
  agentRole: null,
  daybreakEnabled: null,
} as const

const gitOf = ({ git }: ConversationSummary["meta"]): Thread["gitInfo"] =>
  git === undefined
    ? null
    : {
        sha: git.commitHash ?? null,
        branch: git.branch ?? null,
        originUrl: git.repositoryUrl ?? null,
      }

/** A thread. */
export const threadOf = (
  { meta, name, path, preview = "", updatedAtMs }: ConversationSummary,
  { acceptsInput, ephemeral, settings, status, turns = [] }: LiveFacts,
): Thread => {
  const cwd = settings?.cwd ?? meta.cwd
  return {
    ...absent,
    id: meta.id,
    environments: settings === undefined ? null : [environmentOf(cwd)],
    sessionId: meta.id,
    forkedFromId: meta.forkedFrom ?? null,
    preview,
    ephemeral,
    historyMode: "paginated",
    modelProvider: settings?.provider.id ?? meta.provider ?? "",
    model: settings?.model ?? meta.model ?? null,
    reasoningEffort: settings?.effort ?? null,
    createdAt: seconds(meta.createdAtMs),
    updatedAt: seconds(updatedAtMs),
    recencyAt: seconds(updatedAtMs),
    status,
    path: ephemeral ? null : (path ?? null),
    cwd,
    cliVersion: meta.version,
    originator: meta.originator,
    source: meta.source ?? "vscode",
    canAcceptDirectInput: acceptsInput ? true : null,
    gitInfo: gitOf(meta),
    name: name ?? null,
    turns,
  }
}

/** A sandbox policy in the spelling of this dialect. */
const sandboxOf = (policy: CorePolicy): SandboxPolicy => {
  switch (policy.mode) {
    case "danger-full-access":
      return { type: "dangerFullAccess" }
    case "read-only":
      return { type: "readOnly", networkAccess: false }
    case "workspace-write":
      return {
        type: "workspaceWrite",
        writableRoots: policy.writable_roots ?? [],
        networkAccess: policy.network_access ?? false,
        excludeTmpdirEnvVar: policy.exclude_tmpdir_env_var ?? false,
        excludeSlashTmp: policy.exclude_slash_tmp ?? false,
      }
    case "external-sandbox":
      return {
        type: "externalSandbox",
        networkAccess: policy.network_access === true ? "enabled" : "restricted",
      }
  }
}

interface CommonSettings {
  readonly cwd: string
  readonly approvalPolicy: AskForApproval
  readonly approvalsReviewer: "user"
  readonly model: string
  readonly modelProvider: string
  readonly serviceTier: null
  readonly disabledPluginIds: ReadonlyArray<string>
  readonly activePermissionProfile: null
  readonly multiAgentMode: "explicitRequestOnly"
}

const common = (settings: ConversationSettings): CommonSettings => ({
  cwd: settings.cwd,
  approvalPolicy: shownPolicy(settings),
  approvalsReviewer: "user",
  model: settings.model,
  modelProvider: settings.provider.id,
  serviceTier: null,
  disabledPluginIds: [],
  activePermissionProfile: null,
  multiAgentMode: "explicitRequestOnly",
})

/** A thread with the settings of its next turn, as the methods that start one give it. */
export const withSettings = (thread: Thread, settings: ConversationSettings) => ({
  thread,
  ...common(settings),
  runtimeWorkspaceRoots: [settings.cwd],
  instructionSources: [],
  sandbox: sandboxOf(settings.sandboxPolicy),
  reasoningEffort: settings.effort ?? null,
})

/** How the agent works with the user, with the instructions of that mode. */
export const collaborationOf = (
  settings: Pick<ConversationSettings, "collaborationMode" | "effort" | "model">,
) => ({
  mode: settings.collaborationMode?.mode ?? ("default" as const),
  settings: {
    model: settings.model,
    reasoning_effort: settings.effort ?? null,
    developer_instructions: modeInstructionsOf(settings) ?? null,
  },
})

/** The settings of a thread's next turn. */
export const settingsOf = (settings: ConversationSettings): ThreadSettings => ({
  ...common(settings),
  environments: [environmentOf(settings.cwd)],
  sandboxPolicy: sandboxOf(settings.sandboxPolicy),
  effort: settings.effort ?? null,
  summary: settings.summary,
  collaborationMode: collaborationOf(settings),
  personality: null,
})
