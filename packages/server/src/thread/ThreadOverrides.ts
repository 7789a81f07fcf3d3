/** The settings that params give, for a new thread and for the next turns of one. */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { State } from "@colloquy/core/decider/State"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import type { Op } from "@colloquy/protocol/Op"
import {
  ReasoningEffort,
  type SandboxMode,
  type SandboxPolicy as CorePolicy,
} from "@colloquy/protocol/Policy"
import type { ThreadStart } from "@colloquy/protocol/thread/Threads"
import type { ThreadSettingsUpdate } from "@colloquy/protocol/thread/ThreadChanges"
import type { SandboxPolicyParam } from "@colloquy/protocol/thread/Values"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import { invalid } from "../app/AppErrors.ts"
import { permissionProfiles } from "./PermissionProfiles.ts"
import * as Errors from "./ThreadErrors.ts"
import { defined } from "@colloquy/protocol/Defined"
import { corePolicy } from "./questions/ApprovalPolicies.ts"

type Overrides = Pick<
  Params<typeof ThreadStart>,
  | "model"
  | "modelProvider"
  | "cwd"
  | "approvalPolicy"
  | "sandbox"
  | "config"
  | "baseInstructions"
  | "developerInstructions"
  | "permissions"
  | "runtimeWorkspaceRoots"
>

type Lasting = Omit<Params<typeof ThreadSettingsUpdate>, "threadId">

/** The change of the approval policy that params ask for. */
export const approvalChange = (
  given: Overrides["approvalPolicy"],
): Pick<ContextChange, "approval_policy" | "approval_questions"> => {
  if (given == null) return {}
  const { approvalPolicy, approvalQuestions } = corePolicy(given)
  return { approval_policy: approvalPolicy, approval_questions: approvalQuestions ?? null }
}

/** The settings with the policy that params give, if they do. */
const withPolicy = (
  { approvalQuestions, ...settings }: ConversationSettings,
  given: Overrides["approvalPolicy"],
): ConversationSettings => ({
  ...settings,
  ...defined(given == null ? { approvalQuestions } : corePolicy(given)),
})

/**
 * The sandbox of the chosen set of permissions; undefined if none is chosen.
 *
 * @param beside the sandbox that the same params choose, under its name
 */
export const sandboxOfProfile = (
  permissions: string | null | undefined,
  beside: Readonly<Record<string, unknown>>,
): Effect.Effect<SandboxMode | undefined, JsonRpcError> => {
  if (permissions == null) return Effect.undefined
  const other = Object.keys(beside).find((name) => beside[name] != null)
  if (other !== undefined) {
    return Effect.fail(invalid(`\`permissions\` cannot be combined with \`${other}\``))
  }
  const profile = permissionProfiles.find(({ id }) => id === permissions)
  const ids = permissionProfiles.map(({ id }) => `\`${id}\``).join(", ")
  return profile === undefined
    ? Effect.fail(invalid(`unknown permission profile \`${permissions}\`, expected one of ${ids}`))
    : Effect.succeed(profile.sandbox)
}

/** The error for the first path that is not absolute; undefined if there is none. */
const relativeRoot = (member: string, roots: ReadonlyArray<string>): JsonRpcError | undefined => {
  const place = roots.findIndex((root) => !root.startsWith("/"))
  return place === -1
    ? undefined
    : invalid(
        `AbsolutePathBuf deserialized without a base path: params.${member}[${place}]: expected an absolute path`,
      )
}

/**
 * The policy with the roots of the workspace: where writing is confined to the workspace, commands may write in each of them.
 * Undefined: it needs no change.
 */
const withRoots = (
  policy: CorePolicy,
  { cwd, roots }: { readonly cwd: string; readonly roots: ReadonlyArray<string> },
): Effect.Effect<CorePolicy | undefined, JsonRpcError> => {
  const relative = relativeRoot("runtimeWorkspaceRoots", roots)
  if (relative !== undefined) return Effect.fail(relative)
  if (policy.mode !== "workspace-write") return Effect.undefined
  const known = policy.writable_roots ?? []
  const added = roots.filter((root) => root !== cwd && !known.includes(root))
  return Effect.succeed(
    added.length === 0 ? undefined : { ...policy, writable_roots: [...known, ...added] },
  )
}

/** The settings of a thread that is started with these params. */
export const startSettings = Effect.fnUntraced(function* (
  given: Overrides,
): Effect.fn.Return<ConversationSettings, JsonRpcError, SettingsResolver> {
  const { baseInstructions, config, cwd, developerInstructions, model, modelProvider } = given
  const chosen = yield* sandboxOfProfile(given.permissions, { sandbox: given.sandbox })
  const sandbox = given.sandbox ?? chosen
  const keys = {
    ...config,
    ...(modelProvider == null ? {} : { model_provider: modelProvider }),
  }
  const resolver = yield* SettingsResolver
  const resolved = resolver.resolve({
    requiresProvider: true,
    ...(model == null ? {} : { model }),
    ...(cwd == null ? {} : { cwd }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(Object.keys(keys).length === 0 ? {} : { config: keys }),
    ...(baseInstructions == null ? {} : { baseInstructions }),
    ...(developerInstructions == null ? {} : { developerInstructions }),
  })
  const settings = withPolicy(
    yield* Effect.mapError(resolved, Errors.badSettings),
    given.approvalPolicy,
  )
  const sandboxPolicy = yield* withRoots(settings.sandboxPolicy, {
    cwd: settings.cwd,
    roots: given.runtimeWorkspaceRoots ?? [],
  })
  return {
    ...settings,
    ...(sandboxPolicy === undefined ? {} : { sandboxPolicy }),
    // Clients of this dialect expect to be asked, and can be.
    toolServerApproval: settings.toolServerApproval ?? "auto",
  }
})

/** The policy of the core. */
export const policyOf = (given: SandboxPolicyParam): Effect.Effect<CorePolicy, JsonRpcError> => {
  switch (given.type) {
    case "dangerFullAccess":
      return Effect.succeed({ mode: "danger-full-access" })
    case "readOnly":
      return given.networkAccess === true
        ? Effect.fail(Errors.notServed("`networkAccess` of a sandbox that is read-only"))
        : Effect.succeed({ mode: "read-only" })
    case "workspaceWrite": {
      const writableRoots = given.writableRoots ?? []
      const relative = relativeRoot("sandboxPolicy.writableRoots", writableRoots)
      if (relative !== undefined) return Effect.fail(relative)
      return Effect.succeed({
        mode: "workspace-write",
        writable_roots: writableRoots,
        network_access: given.networkAccess ?? false,
        exclude_tmpdir_env_var: given.excludeTmpdirEnvVar ?? false,
        exclude_slash_tmp: given.excludeSlashTmp ?? false,
      })
    }
    case "externalSandbox":
      return Effect.succeed({
        mode: "external-sandbox",
        network_access: given.networkAccess === "enabled",
      })
  }
}

/** The part of an op that changes settings. */
export type ContextChange = Omit<Extract<Op, { readonly type: "override_turn_context" }>, "type">

/** The sandbox policy that params ask for; undefined if they ask for none. */
const sandboxChange = Effect.fnUntraced(function* (
  { cwd, permissions, runtimeWorkspaceRoots, sandboxPolicy }: Lasting,
  settings: ConversationSettings,
): Effect.fn.Return<CorePolicy | undefined, JsonRpcError> {
  const mode = yield* sandboxOfProfile(permissions, { sandboxPolicy })
  const chosen: CorePolicy | undefined = mode === undefined ? undefined : { mode }
  const policy = sandboxPolicy == null ? chosen : yield* policyOf(sandboxPolicy)
  const rooted = yield* withRoots(policy ?? settings.sandboxPolicy, {
    cwd: cwd ?? settings.cwd,
    roots: runtimeWorkspaceRoots ?? [],
  })
  return rooted ?? policy
})

const isEffort = Schema.is(ReasoningEffort)

const effortOf = (given: string): Effect.Effect<ReasoningEffort, JsonRpcError> =>
  isEffort(given)
    ? Effect.succeed(given)
    : Effect.fail(invalid(`unknown reasoning effort \`${given}\``))

/** The mode with its model and effort, which count more than those beside it. */
const modeChange = Effect.fnUntraced(function* (
  given: Lasting["collaborationMode"],
): Effect.fn.Return<ContextChange, JsonRpcError> {
  if (given == null) return {}
  const { developer_instructions, model, reasoning_effort } = given.settings
  if (model === "") {
    return yield* invalid("`collaborationMode.settings.model`: expected the name of a model")
  }
  return {
    model,
    effort: reasoning_effort == null ? null : yield* effortOf(reasoning_effort),
    collaboration_mode: {
      mode: given.mode,
      ...(developer_instructions == null ? {} : { developer_instructions }),
    },
  }
})

const currentMode = ({
  collaborationMode,
}: ConversationSettings): NonNullable<ContextChange["collaboration_mode"]> => {
  const { developerInstructions, mode = "default" } = collaborationMode ?? {}
  return {
    mode,
    ...(developerInstructions === undefined
      ? {}
      : { developer_instructions: developerInstructions }),
  }
}

/** The changes of settings that params ask for; undefined if there are none. */
export const changeOf = Effect.fnUntraced(function* (
  given: Lasting,
  { settings }: State,
): Effect.fn.Return<ContextChange | undefined, JsonRpcError, SettingsResolver> {
  const { cwd, effort, model, summary } = given
  const sandbox = yield* sandboxChange(given, settings)
  const resolver = yield* SettingsResolver
  const change: ContextChange = {
    ...(model == null ? {} : { model }),
    ...(effort == null ? {} : { effort: yield* effortOf(effort) }),
    ...(summary == null ? {} : { summary }),
    ...(cwd == null
      ? {}
      : { cwd: (yield* Effect.mapError(resolver.resolve({ cwd }), Errors.badSettings)).cwd }),
    ...approvalChange(given.approvalPolicy),
    ...(sandbox === undefined ? {} : { sandbox_policy: sandbox }),
    ...(yield* modeChange(given.collaborationMode)),
  }
  const now: ContextChange = {
    model: settings.model,
    effort: settings.effort ?? null,
    summary: settings.summary,
    cwd: settings.cwd,
    approval_policy: settings.approvalPolicy,
    approval_questions: settings.approvalQuestions ?? null,
    sandbox_policy: settings.sandboxPolicy,
    collaboration_mode: currentMode(settings),
  }
  const names = Object.keys(change) as ReadonlyArray<keyof ContextChange>
  return names.every((name) => Equal.equals(change[name], now[name])) ? undefined : change
})
