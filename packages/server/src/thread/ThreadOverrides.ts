/** The settings that params give, for a new thread and for the next turns of one. */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { State } from "@colloquy/core/decider/State"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import type { Op } from "@colloquy/protocol/Op"
import {
  type AskForApproval,
  ReasoningEffort,
  type SandboxPolicy as CorePolicy,
} from "@colloquy/protocol/Policy"
import type { ThreadStart } from "@colloquy/protocol/thread/Threads"
import type { ThreadSettingsUpdate } from "@colloquy/protocol/thread/ThreadChanges"
import type { SandboxPolicyParam } from "@colloquy/protocol/thread/Values"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"
import { invalid } from "../app/AppErrors.ts"
import * as Errors from "./ThreadErrors.ts"

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

const approvalOf = (
  given: NonNullable<Overrides["approvalPolicy"]>,
): Effect.Effect<AskForApproval, JsonRpcError> => {
  if (typeof given !== "string") {
    return Effect.fail(Errors.notServed("an approval policy with single switches"))
  }
  return Effect.succeed(given)
}

const nothingOf = (
  given: Pick<Overrides, "permissions" | "runtimeWorkspaceRoots">,
): Effect.Effect<void, JsonRpcError> => {
  if (given.permissions != null) return Effect.fail(Errors.notServed("`permissions`"))
  return given.runtimeWorkspaceRoots == null
    ? Effect.void
    : Effect.fail(Errors.notServed("`runtimeWorkspaceRoots`"))
}

/** The settings of a thread that is started with these params. */
export const startSettings = Effect.fnUntraced(function* (
  given: Overrides,
): Effect.fn.Return<ConversationSettings, JsonRpcError, SettingsResolver> {
  yield* nothingOf(given)
  const { baseInstructions, config, cwd, developerInstructions, model, modelProvider, sandbox } =
    given
  const approvalPolicy =
    given.approvalPolicy == null ? undefined : yield* approvalOf(given.approvalPolicy)
  const keys = {
    ...config,
    ...(modelProvider == null ? {} : { model_provider: modelProvider }),
  }
  const resolver = yield* SettingsResolver
  const resolved = resolver.resolve({
    requiresProvider: true,
    ...(model == null ? {} : { model }),
    ...(cwd == null ? {} : { cwd }),
    ...(sandbox == null ? {} : { sandbox }),
    ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
    ...(Object.keys(keys).length === 0 ? {} : { config: keys }),
    ...(baseInstructions == null ? {} : { baseInstructions }),
    ...(developerInstructions == null ? {} : { developerInstructions }),
  })
  return yield* Effect.mapError(resolved, Errors.badSettings)
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
    case "workspaceWrite":
      return Effect.succeed({
        mode: "workspace-write",
        writable_roots: given.writableRoots ?? [],
        network_access: given.networkAccess ?? false,
        exclude_tmpdir_env_var: given.excludeTmpdirEnvVar ?? false,
        exclude_slash_tmp: given.excludeSlashTmp ?? false,
      })
    case "externalSandbox":
      return Effect.succeed({
        mode: "external-sandbox",
        network_access: given.networkAccess === "enabled",
      })
  }
}

/** The part of an op that changes settings. */
export type ContextChange = Omit<Extract<Op, { readonly type: "override_turn_context" }>, "type">

const isEffort = Schema.is(ReasoningEffort)

/** The changes of settings that params ask for; undefined if there are none. */
export const changeOf = Effect.fnUntraced(function* (
  given: Lasting,
  { settings }: State,
): Effect.fn.Return<ContextChange | undefined, JsonRpcError, SettingsResolver> {
  yield* nothingOf(given)
  const { cwd, effort, model, sandboxPolicy, summary } = given
  if (given.collaborationMode?.mode === "plan") return yield* Errors.notServed("plan mode")
  if (effort != null && !isEffort(effort)) {
    return yield* invalid(`unknown reasoning effort \`${effort}\``)
  }
  const resolver = yield* SettingsResolver
  const change: ContextChange = {
    ...(model == null ? {} : { model }),
    ...(effort == null ? {} : { effort }),
    ...(summary == null ? {} : { summary }),
    ...(cwd == null
      ? {}
      : { cwd: (yield* Effect.mapError(resolver.resolve({ cwd }), Errors.badSettings)).cwd }),
    ...(given.approvalPolicy == null
      ? {}
      : { approval_policy: yield* approvalOf(given.approvalPolicy) }),
    ...(sandboxPolicy == null ? {} : { sandbox_policy: yield* policyOf(sandboxPolicy) }),
  }
  const now: ContextChange = {
    model: settings.model,
    effort: settings.effort ?? null,
    summary: settings.summary,
    cwd: settings.cwd,
    approval_policy: settings.approvalPolicy,
    sandbox_policy: settings.sandboxPolicy,
  }
  const names = Object.keys(change) as ReadonlyArray<keyof ContextChange>
  return names.every((name) => Equal.equals(change[name], now[name])) ? undefined : change
})
