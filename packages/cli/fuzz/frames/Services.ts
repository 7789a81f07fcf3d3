/** What a fuzzed server runs over: conversations in memory, the offline model, tools that ask, ids that are known. */
import * as Conversations from "@colloquy/core/manager/Conversations"
import * as Resolve from "@colloquy/config/Resolve"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as OfflineModel from "@colloquy/models/OfflineModel"
import { offlineProvider } from "@colloquy/models/Providers"
import { ConversationId } from "@colloquy/protocol/Ids"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import { Server } from "@colloquy/server/Server"
import { Tasks } from "@colloquy/server/tasks/Tasks"
import * as TestSealer from "@colloquy/testing/TestSealer"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Numbers the conversations of a connection, so that an input can name those that it makes. */
export class Ids {
  private count = 0
  private made: Array<ConversationId> = []

  static nth(n: number): ConversationId {
    return ConversationId.make(`00000000-0000-7000-8000-${String(n).padStart(12, "0")}`)
  }

  readonly next = Effect.sync(() => {
    const id = Ids.nth(++this.count)
    this.made.push(id)
    return id
  })

  /** Those made since the last call; the next one is the first again. */
  takeMade(): ReadonlyArray<ConversationId> {
    this.count = 0
    return this.made.splice(0)
  }
}

/** A text of the user that holds this makes the model call tools, which ask. */
export const asking = "ask me"

const script = OfflineModel.make({
  script: [
    [
      { reasoning: "think" },
      { tool_call: { name: "approve", arguments: {} } },
      { tool_call: { name: "fill-in", arguments: '{"a":1}' } },
    ],
    [{ custom_tool_call: { name: "other", input: "x" } }, { text: "nearly" }],
    [{ text: "done" }],
  ],
})

const echo = OfflineModel.make()

const models = Layer.succeed(ModelClient, {
  stream: (request) =>
    JSON.stringify(request.input).includes(asking) ? script.stream(request) : echo.stream(request),
})

const approve = ({ approve: ask }: ToolContext, callId: string) =>
  Effect.map(
    ask({
      _tag: "Exec",
      callId,
      command: ["make", "all"],
      cwd: "/work",
      sandbox: { mode: "read-only" },
    }),
    ({ decision }) => decision,
  )

const form = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
} as const

const fillIn = ({ elicit }: ToolContext) =>
  Effect.map(
    elicit({ server: "forms", message: "who?", requestedSchema: form }),
    ({ action }) => action,
  )

const tools = Layer.succeed(
  ToolRuntime,
  ToolRuntime.simple({
    specs: () => [],
    run: (call, context) => {
      if (call.type === "local_shell_call") return Effect.succeed("no shell")
      if (call.name === "approve") return approve(context, call.call_id)
      return call.name === "fill-in" ? fillIn(context) : Effect.succeed(call.name)
    },
  }),
)

const settings = Resolve.layer({
  tree: {
    model_provider: "offline",
    approval_policy: "on-request",
    profiles: { other: { model: "offline-2" } },
  },
  builtinProviders: [offlineProvider],
  defaultProvider: "offline",
  cwd: "/work",
})

/** Bytes that count up: ids of tasks are the same for the same input. */
export const countingCrypto = (platform: Effect.Success<typeof WebCrypto>) => {
  let count = 0
  const getRandomValues = <A>(bytes: A): A => {
    if (bytes instanceof Uint8Array) bytes.fill(0).set([++count & 0xff, (count >> 8) & 0xff])
    return bytes
  }
  return {
    reset: () => {
      count = 0
    },
    crypto: new Proxy(platform, {
      get: (target, name) =>
        name === "getRandomValues" ? getRandomValues : (Reflect.get(target, name) as unknown),
    }),
  }
}

/** Small bounds, so that inputs reach them. */
const limits = {
  maxConversations: 64,
  maxLoaded: 8,
  maxTurns: 8,
  maxListeners: 16,
  idleTimeToLive: Duration.seconds(5),
}

export const services = (ids: Ids) =>
  Conversations.layerWith(limits).pipe(
    Layer.provide([
      Layer.succeed(IdGenerator, { conversationId: ids.next }),
      MemoryStore.layer,
      models,
      tools,
    ]),
    Layer.provideMerge(Layer.merge(settings, TestSealer.layer)),
  )

/** A server of one connection: what one input leaves behind must not change what the next one finds. */
export const ownServer = Layer.mergeAll(
  Layer.provide(Server.layer(), Tasks.layer()),
  Auth.layerNone,
  HostPort.layerNone,
  UserConfig.layerNone,
)
