/** The setting of every figure of commands and patches: a separate repository, and the tools of this machine. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { type ToolCall, type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import { StartTurns } from "@colloquy/tools/process/StartTurns"
import { Sandbox } from "@colloquy/tools/sandbox/Sandbox"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import * as Tools from "@colloquy/tools/Tools"
import { ToolServers } from "@colloquy/tools/mcp/ToolServers"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

interface Place {
  /** Path of the repository, absolute and without links. */
  readonly workspace: string
  /** State directory, which is hidden from commands. */
  readonly stateDirectory: string
}

/** Creates a repository as git does, without git. */
const makeRepository = (directory: string): void => {
  mkdirSync(join(directory, ".git", "hooks"), { recursive: true })
  mkdirSync(join(directory, ".git", "objects"))
  mkdirSync(join(directory, ".git", "refs", "heads"), { recursive: true })
  writeFileSync(join(directory, ".git", "HEAD"), "ref: refs/heads/main\n")
  writeFileSync(join(directory, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n")
}

const place: Effect.Effect<Place, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "colloquy-bench-")))),
  (home) => Effect.sync(() => rmSync(home, { recursive: true, force: true })),
).pipe(
  Effect.map((home) => {
    const found = { workspace: join(home, "workspace"), stateDirectory: join(home, "state") }
    makeRepository(found.workspace)
    mkdirSync(found.stateDirectory)
    return found
  }),
)

const machineOf = ({
  stateDirectory,
}: Place): Layer.Layer<CommandRunner | Sandbox | ToolRuntime> => {
  const options = { environment: process.env, hiddenPaths: [stateDirectory] }
  const sandbox = SandboxLayer.layer({
    machine: { platform: process.platform, processor: process.arch },
    ...options,
  })
  const below = Layer.merge(Layer.provide(CommandRunner.layer, StartTurns.layer), sandbox)
  return Tools.layer({ ...options, node: process.execPath, secretNames: [] }).pipe(
    Layer.provide(ToolServers.layer()),
    Layer.provideMerge(below),
    Layer.provide(TrustedPrograms.layer(options)),
    Layer.provide(NodeServices.layer),
  )
}

/** Settings under which commands run in the sandbox, if this machine has one, without approvals. */
const settingsOf = Effect.fnUntraced(function* ({ workspace }: Place) {
  const { status } = yield* Sandbox
  const { _tag } = yield* status
  return scriptedSettings({
    cwd: workspace,
    sandboxPolicy:
      _tag === "Available" ? { mode: "workspace-write" } : { mode: "danger-full-access" },
  })
})

/** The repository, the tools and the sandbox. */
export interface Bench extends Place {
  readonly settings: ConversationSettings
  /** False when this machine has no sandbox; commands then run without one. */
  readonly isConfined: boolean
}

/** Runs with the tools of this machine in a temporary repository. */
export const withMachine = <A, E>(
  use: (bench: Bench) => Effect.Effect<A, E, CommandRunner | Sandbox | ToolRuntime | Scope.Scope>,
): Effect.Effect<A> =>
  Effect.gen(function* () {
    const found = yield* place
    return yield* Effect.gen(function* () {
      const settings = yield* settingsOf(found)
      const isConfined = settings.sandboxPolicy.mode === "workspace-write"
      return yield* use({ ...found, settings, isConfined })
    }).pipe(Effect.provide(machineOf(found)))
  }).pipe(Effect.scoped, Effect.orDie)

/** An event and the time of its delivery on the clock of `performance.now`. */
export interface TimedEvent {
  readonly atMs: number
  readonly msg: EventMsg
}

/** Runs one tool call in a new turn and passes its events to `onEvent`. */
export const callTool = Effect.fnUntraced(function* (
  settings: ConversationSettings,
  name: string,
  args: object,
  onEvent: (event: TimedEvent) => void,
) {
  const { open } = yield* ToolRuntime
  const context: ToolContext = {
    conversationId: ConversationId.make("00000000-0000-7000-8000-000000000001"),
    turnId: "bench",
    settings,
    emit: (msg) => Effect.sync(() => onEvent({ atMs: performance.now(), msg })),
    approve: () => Effect.succeed({ decision: "denied", reason: "answered" }),
    elicit: () => Effect.succeed({ action: "decline" }),
    permissions: Effect.succeed({}),
    requestInput: () => Effect.succeed({ _tag: "Unanswered", reason: "unattended" }),
    canRequestInput: Effect.succeed(false),
    granted: () => Effect.succeed(false),
  }
  const tools = yield* open(context)
  const call: ToolCall = {
    type: "function_call",
    name,
    arguments: JSON.stringify(args),
    call_id: "call",
  }
  const startedAtMs = performance.now()
  const { output } = yield* tools.run(call)
  return { output, startedAtMs, endedAtMs: performance.now() }
}, Effect.scoped)
