/** A server of the dialect `app-server` in memory, with helpers for the requests and results of its tests. */
import type { Connection } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Auth } from "../../src/app/ports/AuthPort.ts"
import { HostPort } from "../../src/app/ports/HostPort.ts"
import { UserConfig } from "../../src/app/ports/UserConfigPort.ts"
import * as AppServer from "../../src/AppServer.ts"
import * as McpServer from "../../src/McpServer.ts"
import type { McpServerOptions } from "../../src/McpServer.ts"
import type { Server } from "../../src/Server.ts"
import { type Harness, type HarnessOptions, withServer } from "./Harness.ts"
import type { WireMessage } from "./Wire.ts"

export interface Ports {
  readonly auth?: Auth["Service"]
  readonly host?: HostPort["Service"]
  readonly config?: UserConfig["Service"]
}

export interface AppOptions extends HarnessOptions {
  readonly ports?: Ports
  /** False: the client has not sent `initialize`. */
  readonly initialized?: boolean
  readonly capabilities?: object
  /** As of the server. */
  readonly endsConversations?: boolean
  readonly identity?: AppServer.AppServerOptions["identity"]
  /** Serves these requests in addition to MCP. */
  readonly besideMcp?: ReturnType<typeof AppServer.beside>
}

const serveWith =
  (
    { auth = Auth.none, config = UserConfig.none, host = HostPort.none }: Ports,
    beside: AppOptions["besideMcp"],
  ) =>
  (connection: Connection, options: McpServerOptions = {}): Effect.Effect<void, never, Server> =>
    (beside === undefined
      ? AppServer.serve(connection, options)
      : Effect.flatMap(beside, (route) =>
          McpServer.serve(connection, { ...options, beside: route }),
        )
    ).pipe(
      Effect.provideService(Auth, auth),
      Effect.provideService(HostPort, host),
      Effect.provideService(UserConfig, config),
    )

export const initializeParams = (capabilities?: object) => ({
  clientInfo: { name: "test", version: "1" },
  ...(capabilities === undefined ? {} : { capabilities }),
})

/** Runs `body` against a server that has received `initialize`, unless the options say otherwise. */
export const withApp = <A, E>(
  { besideMcp, capabilities, initialized = true, ports = {}, ...options }: AppOptions,
  body: (app: Harness) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A, E> =>
  withServer({ ...options, serve: serveWith(ports, besideMcp) }, (app) =>
    Effect.andThen(
      initialized ? hello(app, capabilities) : Effect.void,
      Effect.suspend(() => body(app)),
    ),
  )

export const hello = (app: Harness, capabilities?: object) =>
  app.ask("hello", "initialize", initializeParams(capabilities))

/** The result of a request; fails the test on an error. */
export const resultOf = (message: WireMessage): Readonly<Record<string, unknown>> => {
  if (message.result === undefined) throw new Error(`no result: ${JSON.stringify(message)}`)
  return message.result
}

/** Creates a conversation and resolves with its id. */
export const created = (app: Harness, params: object = {}, id: unknown = "new") =>
  Effect.map(app.ask(id, "newConversation", params), (answer) =>
    String(resultOf(answer)["conversationId"]),
  )

/** Adds a listener and resolves with its subscription id. */
export const listening = (
  app: Harness,
  conversationId: string,
  more: object = {},
  id: unknown = "listen",
) =>
  Effect.map(app.ask(id, "addConversationListener", { conversationId, ...more }), (answer) =>
    String(resultOf(answer)["subscriptionId"]),
  )

export const text = (words: string) => [{ type: "text", data: { text: words } }]

export const say = (
  app: Harness,
  conversationId: string,
  words: string,
  more: object = {},
  id: unknown = "say",
) => app.ask(id, "sendUserMessage", { conversationId, items: text(words), ...more })

export const turnParams = (conversationId: string, more: object = {}) => ({
  conversationId,
  items: text("hello"),
  cwd: "/elsewhere",
  approvalPolicy: "never",
  sandboxPolicy: { mode: "read-only" },
  model: "turn-model",
  effort: "low",
  summary: "auto",
  ...more,
})

const prefix = "codex/event/"

/** Events sent so far, in order; with `subscription`, only those of this subscription. */
export const eventsOf = ({ messages }: Pick<Harness, "messages">, subscription?: string) =>
  messages.filter(
    ({ method, params }) =>
      method?.startsWith(prefix) === true &&
      (subscription === undefined || params?.["subscriptionId"] === subscription),
  )

export const typesOf = (app: Pick<Harness, "messages">, subscription?: string) =>
  eventsOf(app, subscription).map(({ method }) => method?.slice(prefix.length))

/** Numbers of the durable events sent so far. */
export const seqsOf = (app: Pick<Harness, "messages">, subscription?: string) =>
  eventsOf(app, subscription).flatMap(({ method, params }) =>
    method?.endsWith("_delta") === true ? [] : [Number(params?.["seq"])],
  )

/** One line per message: its kind, without its content. */
export const outline = ({ messages }: Pick<Harness, "messages">) =>
  messages.map(({ id, method }) =>
    method === undefined
      ? `answer ${String(id)}`
      : `${id === undefined ? "" : "? "}${method.replace(prefix, "")}`,
  )

export const errorOf = ({ error }: WireMessage) => ({ code: error?.code, message: error?.message })

/** Event types of a turn to which the model responds at once. */
export const liveTurn = [
  "task_started",
  "agent_message_delta",
  "agent_message",
  "token_count",
  "task_complete",
]

export const unknownId = "00000000-0000-4000-8000-000000000000"

/** The params that are sent, and the beginning of the error text. */
export type Refusal = readonly [sent: object, text: string]
