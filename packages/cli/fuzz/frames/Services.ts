/** The services of a fuzzed server: conversations in memory, the offline model, tools that ask, predictable ids. */
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

/** Generates consecutive conversation ids, so that an input can refer to the conversations that it creates. */
export class Ids {
  private count = 0
  private made: Array<ConversationId> = []

  /** The n-th id, counted from 1. */
  static nth(n: number): ConversationId {
    return ConversationId.make(`00000000-0000-7000-8000-${String(n).padStart(12, "0")}`)
  }

  /** Generates the next id. */
  readonly next = Effect.sync(() => {
    const id = Ids.nth(++this.count)
    this.made.push(id)
    return id
  })

  /** Returns the ids generated since the last call, and restarts at the first id. */
  takeMade(): ReadonlyArray<ConversationId> {
    this.count = 0
    return this.made.splice(0)
  }
}

/** A user text that contains this makes the model call tools that ask questions. */
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

/** The platform's cryptography with counting instead of random bytes, so that task ids are the same for the same input. */
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

/** Small limits, so that inputs reach them. */
const limits = {
  maxConversations: 64,
  maxLoaded: 8,
  maxTurns: 8,
  maxListeners: 16,
  idleTimeToLive: Duration.seconds(5),
}

/** The services that the servers of one target share. */
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

/** The services of one connection, not shared, so that one input does not affect the next. */
export const ownServer = Layer.mergeAll(
  Layer.provide(Server.layer(), Tasks.layer()),
  Auth.layerNone,
  HostPort.layerNone,
  UserConfig.layerNone,
)
