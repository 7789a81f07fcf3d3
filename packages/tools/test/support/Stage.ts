/** A real machine with several conversations on it, each with its own script, watched while they run and interrupted. */
import type { Verdict } from "@colloquy/core/approvals/Approval"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient, type ModelEvent, type ModelRequest } from "@colloquy/core/ModelClient"
import { type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import { scriptedResolver, scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Fs from "node:fs"
import * as Os from "node:os"
import { ToolServers } from "../../src/mcp/ToolServers.ts"
import { runnerLayer } from "./Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import type * as Roots from "../../src/sandbox/ResolvedRoots.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import { Sandbox, type SandboxStatus } from "../../src/sandbox/Sandbox.ts"
import type { Tool } from "../../src/Tool.ts"
import * as Tools from "../../src/Tools.ts"
import { type Response, says } from "./Machine.ts"

export interface StageOptions {
  /** Creates the files of the workspace. */
  readonly prepare?: (workspace: string) => void
  readonly hiddenPaths?: (workspace: string) => ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly secretNames?: ReadonlyArray<string>
  readonly hostTools?: ReadonlyArray<Tool>
  /** When present, no sandbox works on the machine, for this reason. */
  readonly sandboxMissing?: string
  /** When present, the sandbox that was found is missing or not permitted by the time a command needs it. */
  readonly sandboxFault?: keyof typeof faultySandboxes
}

export interface Part {
  readonly settings?: Partial<ConversationSettings>
  /** Responses of the model, in order; a turn ends with the first one that calls no tool. */
  readonly responses: ReadonlyArray<Response>
  /** A command of the user, instead of input. */
  readonly command?: string
  /** Answers to the questions, in order; the last one answers all further ones. When absent, no client can answer. */
  readonly answers?: ReadonlyArray<Verdict["decision"]>
}

interface Actor {
  readonly messages: ReadonlyArray<EventMsg>
  /** The requests that the model received, in order. */
  readonly requests: ReadonlyArray<ModelRequest>
  /** Waits for a message that matches, including those already received. */
  readonly until: (fits: (message: EventMsg) => boolean) => Effect.Effect<EventMsg>
  /** Waits for the end of the turn and returns the outputs of the calls for the model. */
  readonly outputs: Effect.Effect<ReadonlyArray<string>>
  readonly interrupt: Effect.Effect<void>
  /** Answers the question of that call, as a client that attached later. */
  readonly answer: (
    callId: string,
    decision: Verdict["decision"],
    kind?: "exec_approval" | "patch_approval",
  ) => Effect.Effect<void>
}

export interface StageWorld {
  readonly workspace: string
  readonly begin: (part: Part) => Effect.Effect<Actor, never, Scope.Scope>
}

const noSandbox = (reason: string) => {
  const status: SandboxStatus = { _tag: "Unavailable", reason, advice: "install one" }
  return Layer.succeed(
    Sandbox,
    Sandbox.of({
      status: Effect.succeed(status),
      confine: () => Effect.die("nothing can be confined here"),
    }),
  )
}

const faultySandboxes = {
  removed: ["/nonexistent/bwrap"],
  refused: [
    "/bin/sh",
    "-c",
    "echo 'bwrap: No permissions to create new namespace, likely because of the kernel' >&2; exit 1",
  ],
} as const

const faultySandbox = (argv: readonly [string, ...ReadonlyArray<string>]) =>
  Layer.succeed(
    Sandbox,
    Sandbox.of({
      status: Effect.succeed({
        _tag: "Available",
        kind: "bubblewrap",
        version: "0.8.0",
        namedPipes: { _tag: "Closed", by: "a test" },
      }),
      confine: ({ cwd, env }) =>
        Effect.succeed({ argv, cwd, env, inputs: new Map(), statusFd: 4, diesWithParent: true }),
    }),
  )

const sandboxOf = (options: StageOptions, settings: Roots.SandboxSettings) => {
  if (options.sandboxMissing !== undefined) return noSandbox(options.sandboxMissing)
  if (options.sandboxFault !== undefined)
    return faultySandbox(faultySandboxes[options.sandboxFault])
  const machine = { platform: process.platform, processor: process.arch }
  return SandboxLayer.layer({ machine, ...settings })
}

const toolsOf = (options: StageOptions, workspace: string) => {
  const settings = {
    // Skips the profile of the user who runs the tests, because its output would be part of the result.
    environment: { PATH: process.env["PATH"], HOME: "/nonexistent", ...options.environment },
    secretNames: options.secretNames ?? [],
    node: process.execPath,
    hiddenPaths: options.hiddenPaths?.(workspace) ?? [],
  }
  const sandbox = sandboxOf(options, settings)
  const { hostTools } = options
  return Tools.layer({ ...settings, ...(hostTools === undefined ? {} : { hostTools }) }).pipe(
    Layer.provide([runnerLayer, ToolServers.layer(), sandbox]),
    Layer.provide(TrustedPrograms.layer(settings)),
  )
}

type Requests = Array<ModelRequest>

const modelOf = (scripts: Map<string, { readonly part: Part; readonly requests: Requests }>) =>
  Layer.succeed(ModelClient, {
    stream: (request) => {
      const script = scripts.get(request.conversationId)
      const response = script?.part.responses[script.requests.length] ?? [says("nothing more")]
      script?.requests.push(request)
      return Stream.fromIterable<ModelEvent>([
        ...response.map((item): ModelEvent => ({ _tag: "ItemDone", item })),
        { _tag: "Completed" },
      ])
    },
  })

const outputsOf = (requests: Requests): ReadonlyArray<string> =>
  (requests.at(-1)?.input ?? []).flatMap((item) =>
    item.type === "function_call_output" || item.type === "custom_tool_call_output"
      ? [item.output]
      : [],
  )

const workspaces = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(`${Os.tmpdir()}/stage-`))),
  (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true, force: true })),
)

/** Opens the stage for the length of the scope. */
export const stage = (options: StageOptions = {}): Effect.Effect<StageWorld, never, Scope.Scope> =>
  Effect.gen(function* () {
    const workspace = `${yield* workspaces}/ws`
    Fs.mkdirSync(`${workspace}/.git`, { recursive: true })
    Fs.writeFileSync(`${workspace}/.git/HEAD`, "ref: refs/heads/main\n")
    Fs.writeFileSync(`${workspace}/hello.txt`, "hello\nworld\n")
    options.prepare?.(workspace)
    const scripts = new Map<string, { readonly part: Part; readonly requests: Requests }>()
    const services = yield* Layer.build(
      Conversations.layer.pipe(
        Layer.provide([toolsOf(options, workspace), modelOf(scripts)]),
        Layer.provide([IdGenerator.layer, MemoryStore.layer, NodeServices.layer]),
        Layer.provide(scriptedResolver()),
      ),
    )
    const begin = Effect.fnUntraced(function* (part: Part) {
      const manager = yield* ConversationManager
      const settings = scriptedSettings({ cwd: workspace, ...part.settings })
      const conversation = yield* manager.create(settings)
      const requests: Requests = []
      scripts.set(conversation.id, { part, requests })
      const messages: Array<EventMsg> = []
      const watchers = new Set<() => void>()
      const answers = part.answers ?? []
      const listener = yield* conversation.attach({ from: 0, answers: answers.length > 0 })
      let asked = 0
      const listen = Effect.gen(function* () {
        for (const delivery of yield* listener.take) {
          if (delivery._tag === "Event") messages.push(delivery.event.msg)
          if (delivery._tag !== "Ask") continue
          const { msg } = delivery.event
          const decision = answers[Math.min(asked++, answers.length - 1)] ?? "denied"
          if (msg.type === "exec_approval_request") {
            yield* conversation.submit({ type: "exec_approval", id: msg.call_id, decision })
          } else if (msg.type === "apply_patch_approval_request") {
            yield* conversation.submit({ type: "patch_approval", id: msg.call_id, decision })
          } else if (msg.type === "tool_approval_request") {
            yield* conversation.submit({ type: "tool_approval", id: msg.call_id, decision })
          } else if (msg.type === "request_permissions") {
            yield* conversation.submit({ type: "permissions_approval", id: msg.call_id, decision })
          }
        }
        for (const watcher of watchers) watcher()
      })
      yield* Effect.forkScoped(Effect.forever(listen))
      const until: Actor["until"] = (fits) =>
        Effect.callback((resume) => {
          const watcher = () => {
            const found = messages.find(fits)
            if (found === undefined) return
            watchers.delete(watcher)
            resume(Effect.succeed(found))
          }
          watchers.add(watcher)
          watcher()
          return Effect.sync(() => watchers.delete(watcher))
        })
      yield* conversation.submit(
        part.command === undefined
          ? { type: "user_input", items: [{ type: "text", text: "go" }] }
          : { type: "run_user_shell_command", command: part.command },
      )
      const actor: Actor = {
        messages,
        requests,
        until,
        outputs: Effect.map(until(isTerminal), () => outputsOf(requests)),
        answer: (id, decision, type = "exec_approval") =>
          Effect.asVoid(Effect.orDie(conversation.submit({ type, id, decision }))),
        interrupt: Effect.asVoid(Effect.orDie(conversation.submit({ type: "interrupt" }))),
      }
      return actor
    })
    return {
      workspace,
      begin: (part) => Effect.orDie(Effect.provide(begin(part), services)),
    }
  })

/** Runs one conversation to the end of its turn. */
export const perform = Effect.fnUntraced(function* (options: StageOptions, part: Part) {
  const { begin, workspace } = yield* stage(options)
  const actor = yield* begin(part)
  return { ...actor, workspace, outputs: yield* actor.outputs }
})
