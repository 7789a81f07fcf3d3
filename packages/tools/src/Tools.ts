/**
 * The tools of this machine as the port `ToolRuntime`: shell, plan, patch, image, tools of an embedding application and
 * of MCP servers, combined for each turn. Passes every call to the tool of its name, and owns the state of a turn: the
 * diff of its patches and the tool servers it uses.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import {
  type ToolCall,
  type ToolContext,
  type ToolResult,
  ToolRuntime,
  type TurnTools,
  refusedCall,
  unsupportedCall,
} from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as ApplyPatch from "./edit/ApplyPatch.ts"
import * as PatchFiles from "./edit/PatchFiles.ts"
import { patchTool } from "./edit/PatchTool.ts"
import * as ImageFile from "./image/ImageFile.ts"
import { imageTool } from "./image/ImageTool.ts"
import * as DirectServers from "./mcp/DirectServers.ts"
import * as ServerCalls from "./mcp/ServerCalls.ts"
import { decline, type OpenServers, ToolServers } from "./mcp/ToolServers.ts"
import * as GitDiff from "./patch/GitDiff.ts"
import { implicitInvocation, intercept } from "./patch/Interception.ts"
import * as TurnDiff from "./patch/TurnDiff.ts"
import { permissionsTool } from "./permissions/PermissionsTool.ts"
import { userInputTool } from "./input/UserInputTool.ts"
import { planTool } from "./plan/PlanTool.ts"
import { currentPolicy } from "./policy/GrantedPolicy.ts"
import { searchTool } from "./search/SearchTool.ts"
import { CommandRunner } from "./process/CommandRunner.ts"
import { TrustedPrograms } from "./programs/TrustedPrograms.ts"
import { Sandbox } from "./sandbox/Sandbox.ts"
import * as Attempt from "./shell/Attempt.ts"
import { runUserCommand, type ShellToolOptions, shellTools } from "./shell/ShellTool.ts"
import * as WorkingDirectory from "./shell/WorkingDirectory.ts"
import type { Tool } from "./Tool.ts"

/** What the tools need. */
export interface ToolsOptions {
  /** Environment of the server; `shell_environment_policy` decides what commands get of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Variables that hold keys: no command sees them, whatever the policy is. */
  readonly secretNames: ReadonlyArray<string>
  /** Absolute path of a Node that runs here; it writes patches. */
  readonly node: string
  /**
   * Absolute paths that no tool reads and no confined tool writes: the state directory. The first also contains the
   * files that git compares for the diff of a large patch; without one such a diff replaces everything.
   */
  readonly hiddenPaths: ReadonlyArray<string>
  /** Tools of the embedding application, made by `HostTools.fromToolkit`. */
  readonly hostTools?: ReadonlyArray<Tool>
}

const nameOf = (call: ToolCall): string =>
  call.type === "local_shell_call" ? "local_shell" : call.name

/** Applies a patch that is written as a command; undefined for a command that is no patch. */
const patchCommandOf =
  (
    applyPatch: ReturnType<typeof ApplyPatch.make>,
    resolve: Path.Path["resolve"],
    turnDiff: ApplyPatch.DiffOf,
  ): ShellToolOptions["patchOf"] =>
  (argv, cwd, callId, context) => {
    const found = intercept(argv)
    if (found._tag === "Command") return undefined
    if (found._tag === "Implicit") return Effect.succeed(refusedCall(implicitInvocation))
    const directory = resolve(cwd, found.directory ?? "")
    return applyPatch(found.patch, directory, callId, context, turnDiff)
  }

/** What the agent shows the person, and asks. */
const personTools = [planTool, userInputTool]

/** Creates what does not change from turn to turn. */
const prepare = Effect.fnUntraced(function* (options: ToolsOptions, images: ImageFile.ImageFiles) {
  const { environment, hostTools = [], secretNames } = options
  const runner = yield* CommandRunner
  const sandbox = yield* Sandbox
  const { resolve } = yield* Path.Path
  const tmpdir = environment["TMPDIR"]
  const files = yield* PatchFiles.make(options.hiddenPaths)
  const directoryAt = WorkingDirectory.make()
  const programs = yield* TrustedPrograms
  const { safeSearchPath } = programs
  const attempts = Attempt.make({ runner, sandbox, environment, secretNames, safeSearchPath })
  const applyPatch = ApplyPatch.make({
    runner,
    sandbox,
    files,
    resolve,
    node: options.node,
    trustedNode: programs.resolve("node", options.node),
    protectedPaths: options.hiddenPaths,
    ...(tmpdir === undefined ? {} : { tmpdir }),
  })
  const { remember } = programs
  const { hiddenPaths } = options
  const askPermissions = permissionsTool({ resolve, directoryAt, hiddenPaths, remember })
  const shell = { attempts, sandbox, resolve, directoryAt }
  /** The tools of one turn except those of tool servers, in the order in which they are offered. */
  const toolsOf = (turnDiff: ApplyPatch.DiffOf): ReadonlyArray<Tool> => [
    ...shellTools({ ...shell, patchOf: patchCommandOf(applyPatch, resolve, turnDiff) }),
    ...personTools,
    askPermissions,
    patchTool((text, callId, context) =>
      applyPatch(text, context.settings.cwd, callId, context, turnDiff),
    ),
    // A search tool of the application replaces the provider's.
    ...(hostTools.some(({ name }) => name === searchTool.name) ? [] : [searchTool]),
    imageTool(images),
    ...hostTools,
  ]
  return { toolsOf, shell }
})

/** Specifications of the servers' tools. A server whose tools are missing is reported once per turn. */
const serverSpecs = (
  servers: OpenServers,
  taken: ReadonlySet<string>,
  context: ToolContext,
): Effect.Effect<ReadonlyArray<ToolSpec>> => {
  const reported = new Set<string>()
  return Effect.flatMap(servers.tools, ({ failures, tools }) => {
    const specs = Effect.succeed(
      tools.filter(({ qualifiedName }) => !taken.has(qualifiedName)).map(({ spec }) => spec),
    )
    const unreported = failures.filter(({ server }) => !reported.has(server))
    if (unreported.length === 0) return specs
    const reporting = Effect.forEach(
      unreported,
      ({ message, server }) => {
        reported.add(server)
        return context.emit({ type: "error", message })
      },
      { discard: true },
    )
    return Effect.andThen(reporting, specs)
  })
}

const open = (own: ReadonlyArray<Tool>, servers: OpenServers, context: ToolContext): TurnTools => {
  // The first tool of a name is used: an application cannot replace the shell by accident.
  const byName = new Map<string, Tool>()
  for (const tool of own) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  const ofServers = serverSpecs(servers, new Set(byName.keys()), context)
  const calls = ServerCalls.make(servers, context)
  const run = (call: ToolCall): Effect.Effect<ToolResult> => {
    const name = nameOf(call)
    const tool = byName.get(name)
    if (tool !== undefined) return tool.run(call, context)
    if (call.type !== "function_call" || !servers.has(name)) {
      return Effect.succeed(refusedCall(unsupportedCall(call)))
    }
    return calls.run(call)
  }
  const isReadOnly = (call: ToolCall): boolean =>
    byName.get(nameOf(call))?.isReadOnly(call, context.settings) ?? calls.isReadOnly(nameOf(call))
  return {
    specs: Effect.map(Effect.all([ofServers, context.canRequestInput]), ([specs, canAsk]) => [
      ...[...byName.values()]
        .filter(({ asksPerson }) => canAsk || asksPerson !== true)
        .flatMap((tool) => tool.spec(context.settings) ?? []),
      ...specs,
    ]),
    isReadOnly,
    replayOf: (call) => byName.get(nameOf(call))?.replay ?? (isReadOnly(call) ? "safe" : "ask"),
    questionOf: (call) => {
      const tool = byName.get(nameOf(call))
      if (tool !== undefined) return tool.questionOf?.(call)
      return call.type === "function_call" ? calls.questionOf(call) : undefined
    },
    run,
  }
}

/** The tools of all tool servers, which are started if they do not run. */
const listOf = (servers: ToolServers["Service"], { mcpServers = {} }: ConversationSettings) =>
  Effect.scoped(Effect.flatMap(servers.open(mcpServers), ({ list }) => list))

/** The tool servers of a turn; what they ask is declined where the settings allow no question of theirs. */
const openServers = (servers: ToolServers["Service"], { elicit, settings }: ToolContext) =>
  servers.open(
    settings.mcpServers ?? {},
    settings.approvalQuestions?.tool_servers === false ? decline : elicit,
  )

type Machine = FileSystem.FileSystem | Path.Path

/** Everything that a conversation can do on this machine. Nothing is started or probed before a turn needs it. */
export const layer = (
  options: ToolsOptions,
): Layer.Layer<
  ToolRuntime,
  never,
  CommandRunner | Sandbox | ToolServers | TrustedPrograms | Machine
> =>
  Layer.effect(
    ToolRuntime,
    Effect.gen(function* () {
      const toolServers = yield* ToolServers
      const images = yield* ImageFile.make(options.hiddenPaths)
      const { shell, toolsOf } = yield* prepare(options, images)
      const programs = yield* TrustedPrograms
      const own = { runner: yield* CommandRunner, sandbox: yield* Sandbox, programs }
      const turnDiffOf = yield* TurnDiff.make(yield* GitDiff.make(own, options.hiddenPaths[0]))
      const remember = ({ cwd, sandboxPolicy }: ConversationSettings) =>
        programs.remember(sandboxPolicy, cwd)
      const names = new Set(toolsOf(() => Effect.undefined).map(({ name }) => name))
      return {
        open: Effect.fnUntraced(function* (context: ToolContext) {
          // Before anything is started, the sandbox and the tool servers included.
          yield* programs.remember(yield* currentPolicy(context), context.settings.cwd)
          // Searches the repository with the first patch, because most turns have none.
          const turnDiff = yield* Effect.cached(turnDiffOf(context.settings.cwd))
          const servers = yield* openServers(toolServers, context)
          const diffOf: ApplyPatch.DiffOf = (done) =>
            Effect.flatMap(turnDiff, ({ add }) => add(done))
          const runOwn = runUserCommand(shell, context)
          return { ...open(toolsOf(diffOf), servers, context), runUserCommand: runOwn }
        }),
        listMcpTools: (settings) =>
          Effect.andThen(remember(settings), listOf(toolServers, settings)),
        toolServers: DirectServers.make(toolServers, remember),
        readImage: (path, { cwd }) => images.read(cwd, path),
        isTaken: (name) => Effect.sync(() => names.has(name)),
      }
    }),
  )
