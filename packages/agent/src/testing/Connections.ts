/**
 * Clients of an agent that are connected in memory, one for each protocol that serves it. They end with the scope, and
 * their calls settle by themselves on the `TestClock`.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as AppClient from "@colloquy/client/AppClient"
import * as McpClient from "@colloquy/client/McpClient"
import type { Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import * as AppServer from "@colloquy/server/AppServer"
import type { FeatureRefused } from "@colloquy/server/features/Features"
import { Server } from "@colloquy/server/Server"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Agent } from "../MakeAgent.ts"
import { toMcp } from "../Serve.ts"
import type { EventLogs } from "./EventLogs.ts"
import { settle, settling } from "./Settle.ts"
import { settledApp, settledMcp } from "./SettledClients.ts"
import { waitingIn } from "./Waiting.ts"

const clientInfo = { name: "test", version: "0.0.0" }

/** An agent, or an agent under test, whose events are then those of its clients too. */
type Served<Q, E, R, T> =
  | Agent<Q, E, R, T>
  | { readonly agent: Agent<Q, E, R, T>; readonly logs: EventLogs }

/** Serves one end of a pair of connections, and connects the other one; fails where serving does. */
const connected = <A, E, E2, R, R2>(
  serve: (connection: Connection) => Effect.Effect<void, E, R>,
  connect: (connection: Connection) => Effect.Effect<A, E2, R2>,
): Effect.Effect<A, E | E2, R | R2 | Scope.Scope> =>
  Effect.gen(function* () {
    const [ours, theirs] = yield* memoryPair()
    const serving = yield* Effect.forkScoped(serve(theirs), { startImmediately: true })
    const failing = Effect.andThen(Fiber.join(serving), Effect.never)
    return yield* Effect.raceFirst(connect(ours), failing)
  })

const partsOf = <Q, E, R, T>(served: Served<Q, E, R, T>) => {
  if (!("logs" in served)) {
    return { agent: served, observe: <A, F, S>(effect: Effect.Effect<A, F, S>) => effect, settle }
  }
  const { agent, logs } = served
  return {
    agent,
    observe: <A, F, S>(effect: Effect.Effect<A, F, S>) => logs.observe(effect),
    settle: settling(() => waitingIn(logs)),
  }
}

/**
 * Connects an MCP client to the agent as `Agent.toMcp` serves it. With `onElicitation` it answers the questions of the
 * agent's tools.
 */
export const mcpClient = <Q, E, R, T>(
  served: Served<Q, E, R, T>,
  options: Partial<McpClient.ConnectOptions> = {},
): Effect.Effect<
  McpClient.McpClient,
  E | FeatureRefused | JsonRpcError | ConnectionClosed,
  Exclude<R, Scope.Scope> | Scope.Scope
> => {
  const { agent, observe, settle } = partsOf(served)
  const client = connected(
    (connection) => observe(toMcp(agent)(connection)),
    (connection) => McpClient.connect(connection, { clientInfo, ...options }),
  )
  return Effect.map(settle(client), (mcp) => settledMcp(mcp, settle))
}

const ports = Layer.mergeAll(Auth.layerNone, HostPort.layerNone, UserConfig.layerNone)

/**
 * Connects a client of the app-server to the conversations of the agent. A conversation has the tools of the agent while a
 * chat of it is open, and is named by the `id` of the chat. A turn that the client starts is no `ask` of the chat: nobody
 * answers the questions of its tools, so they are denied.
 */
export const appClient = <Q, E, R, T>(
  served: Served<Q, E, R, T>,
  options: Partial<AppClient.ConnectOptions> = {},
): Effect.Effect<
  AppClient.AppClient,
  E | JsonRpcError | ConnectionClosed,
  Exclude<R, Scope.Scope> | Scope.Scope
> => {
  const { agent, observe, settle } = partsOf(served)
  const runtime = agent["~colloquy/agent"]
  const serve = (connection: Connection) =>
    Effect.scoped(
      Effect.gen(function* () {
        // Its failures and services are those of the layers of the agent.
        const services = yield* runtime.acquire as Effect.Effect<
          Effect.Success<typeof runtime.acquire>,
          E,
          Exclude<R, Scope.Scope> | Scope.Scope
        >
        const server = Server.layerDefault().pipe(
          Layer.provide([
            Layer.succeed(ConversationManager, Context.get(services, ConversationManager)),
            Layer.succeed(SettingsResolver, Context.get(services, SettingsResolver)),
          ]),
        )
        yield* Effect.provide(AppServer.serve(connection), Layer.merge(server, ports))
      }),
    )
  const client = connected(
    (connection) => observe(serve(connection)),
    (connection) => AppClient.connect(connection, { clientInfo, ...options }),
  )
  return Effect.map(settle(client), (app) => settledApp(app, settle))
}
