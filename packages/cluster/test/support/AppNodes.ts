/** Clients of app-server v2 at the nodes of a cluster in memory. */
import { Broadcasts } from "@colloquy/core/Broadcasts"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { localPrincipal } from "@colloquy/protocol/Connection"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import * as AppServer from "@colloquy/server/AppServer"
import { Server } from "@colloquy/server/Server"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { elapse, settings, world } from "./TwoNodes.ts"

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

export interface AppClient {
  readonly messages: ReadonlyArray<Message>
  /** Sends a request and resolves with its response. */
  readonly ask: (method: string, params?: object) => Effect.Effect<Message>
  /** The notifications so far about threads: their methods without `thread/`, and the name of their status or thread. */
  readonly notified: () => ReadonlyArray<string>
}

export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<string, unknown>> | undefined)?.[key],
    value,
  )

const identity = { codexHome: "/home/me/.colloquy", platformFamily: "unix", platformOs: "linux" }

const ports = Layer.mergeAll(Auth.layerNone, HostPort.layerNone, UserConfig.layerNone)

const lineOf = ({ method = "", params }: Message): string => {
  const about = at(params, "status", "type") ?? at(params, "threadName")
  const short = method.slice("thread/".length)
  return typeof about === "string" ? `${short} ${about}` : short
}

/** Connects a client to the server, on behalf of a principal. */
const connect = Effect.fnUntraced(function* (
  server: Server["Service"],
  principal: string,
): Effect.fn.Return<AppClient, never, Scope.Scope> {
  const [near, far] = yield* memoryPair(64)
  const serving = AppServer.serve({ ...far, peer: { principal } }, { identity })
  yield* Effect.forkScoped(
    serving.pipe(Effect.provideService(Server, server), Effect.provide(ports)),
  )
  const messages: Array<Message> = []
  const receiving = Effect.map(near.receive, (frames) => {
    for (const frame of frames) if (frame._tag === "Text") messages.push(JSON.parse(frame.text))
  })
  yield* Effect.forkScoped(Effect.exit(Effect.forever(receiving)))
  let id = 0
  const ask: AppClient["ask"] = (method, params = {}) =>
    Effect.gen(function* () {
      id++
      yield* Effect.orDie(near.send([JSON.stringify({ jsonrpc: "2.0", id, method, params })]))
      yield* elapse(1)
      return messages.find((one) => one.method === undefined && one.id === id) ?? {}
    })
  const clientInfo = { name: "test", version: "1" }
  yield* ask("initialize", { clientInfo, capabilities: { experimentalApi: true } })
  const notified = () =>
    messages.flatMap((one) =>
      one.id === undefined && one.method?.startsWith("thread/") === true ? [lineOf(one)] : [],
    )
  return { messages, ask, notified }
})

/** A cluster whose nodes are servers. */
export const appWorld = () => {
  const { join, nodes } = world()
  return {
    nodes,
    join: Effect.fnUntraced(function* (name: string) {
      const { broadcasts, close, manager } = yield* join(name)
      const services = yield* Layer.build(
        Server.layerDefault().pipe(
          Layer.provide(Layer.succeed(ConversationManager, manager)),
          Layer.provide(Layer.succeed(Broadcasts, broadcasts)),
          Layer.provide(scriptedResolver(settings)),
        ),
      )
      const server = Context.get(services, Server)
      yield* Effect.addFinalizer(() => close)
      return { client: (principal = localPrincipal) => connect(server, principal) }
    }),
  }
}
