/** The tools over a real machine, with a conversation of the core around them and a model that follows a script. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import type { Verdict } from "@colloquy/core/approvals/Approval"
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { ModelClient, type ModelEvent, type ModelRequest } from "@colloquy/core/ModelClient"
import { type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { ToolServers } from "../../src/mcp/ToolServers.ts"
import { runnerLayer } from "./Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import * as Tools from "../../src/Tools.ts"

/** The response of the model to one request. */
export type Response = ReadonlyArray<ResponseItem>

export const says = (text: string): ResponseItem => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
})

/** A tool call of the model. Arguments that are a text are sent unchanged, others as JSON. */
export const calls = (name: string, args: unknown, call_id: string): ResponseItem => ({
  type: "function_call",
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
  call_id,
})

const scripted = (responses: ReadonlyArray<Response>, requests: Array<ModelRequest>) =>
  Layer.succeed(ModelClient, {
    stream: (request) => {
      const response = responses[requests.length] ?? [says("nothing more")]
      requests.push(request)
      return Stream.fromIterable<ModelEvent>([
        ...response.map((item): ModelEvent => ({ _tag: "ItemDone", item })),
        { _tag: "Completed" },
      ])
    },
  })

export interface Scene {
  readonly settings: Partial<ConversationSettings>
  /** Responses of the model, in order; a turn ends with the first one that calls no tool. */
  readonly responses: ReadonlyArray<Response>
  /** One entry per turn. */
  readonly prompts?: ReadonlyArray<string>
  /** Answers to the questions, in order; the last one also answers all further questions. */
  readonly answers?: ReadonlyArray<Verdict["decision"] | "malformed" | "failed">
  readonly hiddenPaths?: (workspace: string) => ReadonlyArray<string>
  /** The Node program that writes patches. Default: the one that runs the tests. */
  readonly node?: (workspace: string) => string
  readonly environment?: (workspace: string) => Readonly<Record<string, string>>
}

export interface Played {
  readonly messages: ReadonlyArray<EventMsg>
  /** The requests that the model received, in order. */
  readonly requests: ReadonlyArray<ModelRequest>
  readonly workspace: string
  readonly files: Readonly<Record<string, string>>
}

const answered = Effect.fnUntraced(function* (
  listener: Listener,
  answers: ReadonlyArray<NonNullable<Scene["answers"]>[number]>,
  answer: (
    kind: "exec_approval" | "patch_approval" | "tool_approval",
    id: string,
    decision: NonNullable<Scene["answers"]>[number],
  ) => Effect.Effect<unknown, unknown>,
  messages: Array<EventMsg>,
) {
  let asked = 0
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag === "Event") {
        const { msg } = delivery.event
        messages.push(msg)
        if (isTerminal(msg)) return
      }
      if (delivery._tag === "Ask") {
        const { msg } = delivery.event
        const decision = answers[Math.min(asked++, answers.length - 1)] ?? "denied"
        if (msg.type === "exec_approval_request") {
          yield* answer("exec_approval", msg.call_id, decision)
        } else if (msg.type === "apply_patch_approval_request") {
          yield* answer("patch_approval", msg.call_id, decision)
        } else if (msg.type === "tool_approval_request") {
          yield* answer("tool_approval", msg.call_id, decision)
        }
      }
    }
  }
})

const filesOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const files: Record<string, string> = {}
  for (const name of yield* fs.readDirectory(directory, { recursive: true })) {
    if (name === ".git" || name.startsWith(".git/")) continue
    const { type } = yield* fs.stat(`${directory}/${name}`)
    if (type === "File") files[name] = yield* fs.readFileString(`${directory}/${name}`)
  }
  return files
})

/** Plays the scene in a separate workspace, as in the recordings: a repository with one file. */
export const play = (scene: Scene): Effect.Effect<Played, unknown> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const workspace = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
    yield* fs.makeDirectory(`${workspace}/.git`)
    yield* fs.writeFileString(`${workspace}/.git/HEAD`, "ref: refs/heads/main\n")
    yield* fs.writeFileString(`${workspace}/hello.txt`, "hello\nworld\n")
    const requests: Array<ModelRequest> = []
    const messages: Array<EventMsg> = []
    const options = {
      // Skips the profile of the user who runs the tests, because its output would be part of the result.
      environment: {
        PATH: process.env["PATH"],
        HOME: "/nonexistent",
        ...scene.environment?.(workspace),
      },
      secretNames: [],
      node: scene.node?.(workspace) ?? process.execPath,
      hiddenPaths: scene.hiddenPaths?.(workspace) ?? [],
    }
    const tools = Tools.layer(options).pipe(
      Layer.provide([
        runnerLayer,
        ToolServers.layer(),
        SandboxLayer.layer({
          machine: { platform: process.platform, processor: process.arch },
          ...options,
        }),
      ]),
      Layer.provide(TrustedPrograms.layer(options)),
    )
    const services = Conversations.layer.pipe(
      Layer.provide([tools, scripted(scene.responses, requests)]),
      Layer.provide([IdGenerator.layer, MemoryStore.layer]),
      Layer.provideMerge(
        Layer.succeed(SettingsResolver, {
          resolve: () => Effect.succeed(scriptedSettings({ cwd: workspace, ...scene.settings })),
        }),
      ),
    )
    yield* Effect.gen(function* () {
      const manager = yield* ConversationManager
      const { resolve } = yield* SettingsResolver
      const conversation = yield* manager.create(yield* resolve({}))
      const listener = yield* conversation.attach({ from: 0, answers: true })
      const answer: Parameters<typeof answered>[2] = (type, id, decision) =>
        decision === "malformed" || decision === "failed"
          ? conversation.submit({ type, id, decision: "denied" }, { because: decision })
          : conversation.submit({ type, id, decision })
      for (const text of scene.prompts ?? ["go"]) {
        yield* conversation.submit({ type: "user_input", items: [{ type: "text", text }] })
        yield* answered(listener, scene.answers ?? ["denied"], answer, messages)
      }
    }).pipe(Effect.scoped, Effect.provide(services))
    return { messages, requests, workspace, files: yield* filesOf(workspace) }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** The outputs of the calls, as the model received them. */
export const outputsOf = ({ requests }: Played): ReadonlyArray<string> =>
  (requests.at(-1)?.input ?? []).flatMap((item) =>
    item.type === "function_call_output" || item.type === "custom_tool_call_output"
      ? [item.output]
      : [],
  )
