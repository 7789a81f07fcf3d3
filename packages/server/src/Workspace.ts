/**
 * The directory that the conversations of one principal cannot leave: its workspace root. Everything that names a directory
 * passes here: the settings of conversations and turns, images, and what clients ask of the machine. Symbolic links are
 * resolved, and resolved again at each submission: commands may have replaced a directory by a link since.
 *
 * The root separates the work of clients. It does not confine commands, which is the sandbox's task: under a root a client
 * cannot widen the sandbox beyond the configuration, and cannot set keys that start programs or read other files.
 */
import { resolvePath } from "@colloquy/core/AbsolutePath"
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationUnavailable, SubmissionRefused } from "@colloquy/core/ConversationErrors"
import { type SettingsOverrides, SettingsError } from "@colloquy/core/ConversationSettings"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { Op } from "@colloquy/protocol/Op"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"

/** The workspace roots of a server, and the file system as far as they need it. */
export interface Workspaces {
  /** Absolute path of the root; undefined for a principal that may work everywhere. Read at each use. */
  readonly rootOf: (principal: string) => string | undefined
  /** The absolute path without symbolic links; undefined if there is nothing at that path. */
  readonly realPath: (path: string) => Effect.Effect<string | undefined>
}

/** A path, or a permission, that the workspace root does not allow. Nothing was done. */
export class OutsideWorkspace extends Data.TaggedError("OutsideWorkspace")<{
  /** Name of the setting at fault, such as `cwd`. */
  readonly field: string
  readonly expected: string
  readonly got: string
}> {
  override get message() {
    return `${this.field}: expected ${this.expected}; got ${this.got}`
  }
}

type Resolver = SettingsResolver["Service"]

/** Keys of the configuration that a client may set under a root: none of them starts a program or names a file to read. */
const settable: ReadonlySet<string> = new Set([
  "approval_policy",
  "experimental_resume",
  "include_apply_patch_tool",
  "include_plan_tool",
  "include_view_image_tool",
  "model",
  "model_auto_compact_token_limit",
  "model_context_window",
  "model_provider",
  "model_reasoning_effort",
  "model_reasoning_summary",
  "model_verbosity",
  "profile",
  "sandbox_mode",
  "sandbox_workspace_write",
  "show_raw_agent_reasoning",
  "tools",
])

/** What one principal may name. Without a root everything passes unchanged. */
export class Workspace {
  private readonly workspaces: Workspaces
  private readonly principal: string
  private readonly resolver: Resolver

  /** `resolver` resolves the settings of all principals. */
  constructor(workspaces: Workspaces, principal: string, resolver: Resolver) {
    this.workspaces = workspaces
    this.principal = principal
    this.resolver = resolver
  }

  /** Resolves settings within the root; `cwd` is the root by default, and relative to it. */
  get settings(): Resolver {
    return {
      resolve: (overrides) =>
        Effect.suspend(() => {
          const { root } = this
          return root === undefined
            ? this.resolver.resolve(overrides)
            : Effect.catchTag(
                this.resolveBelow(root, overrides),
                "OutsideWorkspace",
                ({ field, message }) => Effect.fail(new SettingsError({ message, key: field })),
              )
        }),
    }
  }

  /** The conversation, whose submissions are checked. */
  confine(conversation: Conversation): Conversation {
    return new ConfinedConversation(conversation, this)
  }

  /** The paths without symbolic links. Fails for one that leads out of the root. */
  check(
    field: string,
    paths: ReadonlyArray<string>,
  ): Effect.Effect<ReadonlyArray<string>, OutsideWorkspace> {
    return Effect.suspend(() => {
      const { root } = this
      return root === undefined
        ? Effect.succeed(paths)
        : Effect.forEach(paths, (path) => this.below(root, field, resolvePath(root, path)))
    })
  }

  /** Fails for a sandbox that is wider than the root and the configuration allow. */
  checkSandbox(policy: SandboxPolicy): Effect.Effect<void, OutsideWorkspace | SettingsError> {
    return Effect.suspend(() => {
      const { root } = this
      return root === undefined ? Effect.void : this.sandboxBelow(root, policy)
    })
  }

  /** True if the directory of the conversation matters for this input: to a root, or for the path of an image. */
  needsDirectory(items: ReadonlyArray<InputItem>): boolean {
    return this.root !== undefined || items.some(({ type }) => type === "local_image")
  }

  private get root(): string | undefined {
    return this.workspaces.rootOf(this.principal)
  }

  private resolveBelow(root: string, overrides: SettingsOverrides) {
    return Effect.gen({ self: this }, function* () {
      const foreign = Object.keys(overrides.config ?? {}).find(
        (key) => !settable.has(key.split(".")[0] ?? key),
      )
      if (foreign !== undefined) {
        return yield* new OutsideWorkspace({
          field: `config.${foreign}`,
          expected: "a key that a client with a workspace root may set",
          got: JSON.stringify(foreign),
        })
      }
      const cwd = yield* this.below(root, "cwd", resolvePath(root, overrides.cwd ?? ""))
      const settings = yield* this.resolver.resolve({ ...overrides, cwd })
      yield* this.sandboxBelow(root, settings.sandboxPolicy)
      return settings
    })
  }

  private below(root: string, field: string, path: string) {
    return Effect.gen({ self: this }, function* () {
      const real = yield* this.workspaces.realPath(path)
      const realRoot = yield* this.workspaces.realPath(root)
      const isBelow =
        real !== undefined &&
        realRoot !== undefined &&
        (real === realRoot || real.startsWith(realRoot === "/" ? "/" : `${realRoot}/`))
      if (isBelow) return real
      return yield* new OutsideWorkspace({
        field,
        expected: `an existing path in the workspace ${JSON.stringify(root)}`,
        got: JSON.stringify(path),
      })
    })
  }

  private sandboxBelow(root: string, policy: SandboxPolicy) {
    return Effect.gen({ self: this }, function* () {
      const { sandboxPolicy: configured } = yield* this.resolver.resolve({})
      if (policy.mode === "read-only" || Equal.equals(policy, configured)) return
      if (policy.mode !== "workspace-write") {
        return yield* new OutsideWorkspace({
          field: "sandbox",
          expected: "a sandbox that keeps to the workspace",
          got: JSON.stringify(policy.mode),
        })
      }
      const widest = yield* this.widestOf(configured)
      const field = widest === undefined ? undefined : widened(policy, widest)
      if (field !== undefined) {
        return yield* new OutsideWorkspace({
          field,
          expected: `${JSON.stringify(widest?.[field] ?? false)}, as the configuration says`,
          got: JSON.stringify(policy[field] ?? false),
        })
      }
      for (const path of policy.writable_roots ?? []) {
        if (widest?.writable_roots?.includes(path) !== true) {
          yield* this.below(root, "writable_roots", resolvePath(root, path))
        }
      }
    })
  }

  /** What the configuration lets commands do in a workspace; undefined if it does not confine them at all. */
  private widestOf(configured: SandboxPolicy) {
    if (configured.mode === "workspace-write") return Effect.succeed(configured)
    if (configured.mode !== "read-only") return Effect.undefined
    return Effect.map(
      this.resolver.resolve({ sandbox: "workspace-write" }),
      ({ sandboxPolicy: policy }) => (policy.mode === "workspace-write" ? policy : undefined),
    )
  }
}

type WorkspaceWrite = Extract<SandboxPolicy, { readonly mode: "workspace-write" }>

/** A permission besides roots that the policy has and the widest one has not. */
const widened = (policy: WorkspaceWrite, widest: WorkspaceWrite) => {
  const isWider = {
    network_access: policy.network_access === true && widest.network_access !== true,
    exclude_tmpdir_env_var:
      policy.exclude_tmpdir_env_var !== true && widest.exclude_tmpdir_env_var === true,
    exclude_slash_tmp: policy.exclude_slash_tmp !== true && widest.exclude_slash_tmp === true,
  }
  const fields = ["network_access", "exclude_tmpdir_env_var", "exclude_slash_tmp"] as const
  return fields.find((field) => isWider[field])
}

const refused = ({ message }: OutsideWorkspace) =>
  Effect.fail(new SubmissionRefused({ reason: "OutsideWorkspace", message }))

/** The input, with the paths of its images, which are relative to the directory of the turn, without symbolic links. */
const withImages = (
  items: ReadonlyArray<InputItem>,
  cwd: string,
  workspace: Workspace,
): Effect.Effect<ReadonlyArray<InputItem>, OutsideWorkspace> =>
  Effect.forEach(items, (item): Effect.Effect<InputItem, OutsideWorkspace> => {
    if (item.type !== "local_image") return Effect.succeed(item)
    const checked = workspace.check("items", [resolvePath(cwd, item.path)])
    return Effect.map(checked, ([path = item.path]) => ({ ...item, path }))
  })

/** A conversation whose turns start only in the workspace. */
class ConfinedConversation implements Conversation {
  private readonly all: Conversation
  private readonly workspace: Workspace

  constructor(all: Conversation, workspace: Workspace) {
    this.all = all
    this.workspace = workspace
  }

  get id(): Conversation["id"] {
    return this.all.id
  }

  submit(...[op, options]: Parameters<Conversation["submit"]>): ReturnType<Conversation["submit"]> {
    return Effect.flatMap(this.checked(op), (allowed) => this.all.submit(allowed, options))
  }

  runTurn(
    ...[op, options]: Parameters<Conversation["runTurn"]>
  ): ReturnType<Conversation["runTurn"]> {
    return Effect.flatMap(this.checked(op), (allowed) => this.all.runTurn(allowed, options))
  }

  cancel(...args: Parameters<Conversation["cancel"]>): ReturnType<Conversation["cancel"]> {
    return this.all.cancel(...args)
  }

  attach(...args: Parameters<Conversation["attach"]>): ReturnType<Conversation["attach"]> {
    return this.all.attach(...args)
  }

  events(...args: Parameters<Conversation["events"]>): ReturnType<Conversation["events"]> {
    return this.all.events(...args)
  }

  get state(): Conversation["state"] {
    return this.all.state
  }

  get loaded(): Conversation["loaded"] {
    return this.all.loaded
  }

  /** The op with its directory without symbolic links. */
  private checked(op: Op): Effect.Effect<Op, SubmissionRefused | ConversationUnavailable> {
    const { workspace } = this
    return Effect.gen({ self: this }, function* () {
      switch (op.type) {
        case "user_input": {
          // The state is on another node where that one has the conversation.
          if (!workspace.needsDirectory(op.items)) return op
          const [cwd = ""] = yield* workspace.check("cwd", [yield* this.cwd])
          return { ...op, items: yield* withImages(op.items, cwd, workspace) }
        }
        case "user_turn": {
          const [cwd = op.cwd] = yield* workspace.check("cwd", [op.cwd])
          yield* workspace.checkSandbox(op.sandbox_policy)
          return { ...op, cwd, items: yield* withImages(op.items, cwd, workspace) }
        }
        case "override_turn_context": {
          const { cwd: given, sandbox_policy: policy } = op
          if (policy !== undefined) yield* workspace.checkSandbox(policy)
          const [cwd] = yield* workspace.check("cwd", given === undefined ? [] : [given])
          return { ...op, ...(cwd === undefined ? {} : { cwd }) }
        }
        default:
          return op
      }
    }).pipe(
      Effect.catchTags({
        OutsideWorkspace: refused,
        SettingsError: (because) =>
          Effect.fail(
            new ConversationUnavailable({ id: this.id, reason: because.message, because }),
          ),
      }),
    )
  }

  private get cwd(): Effect.Effect<string, ConversationUnavailable> {
    return Effect.map(this.all.state, ({ settings }) => settings.cwd)
  }
}
