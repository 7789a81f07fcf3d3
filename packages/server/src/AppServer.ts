/** Serves the dialect `app-server` on one connection. Opens nothing: the connection is given. */
import type { Connection } from "@colloquy/protocol/Connection"
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { CancelRequest } from "@colloquy/protocol/app/Events"
import { ApprovalForm, Initialized } from "@colloquy/protocol/app/Session"
import { nearest } from "@colloquy/protocol/Nearest"
import { methodsOf } from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type FindDialect, unknownMethodRoute } from "./jsonrpc/ForeignMethod.ts"
import { invalidRequest } from "./app/AppErrors.ts"
import { make as makeHandlers } from "./app/AppHandlers.ts"
import { cancelRequest } from "./app/methods/CancelRequest.ts"
import { initialized } from "./app/methods/Initialized.ts"
import type { Auth } from "./app/ports/AuthPort.ts"
import type { HostPort } from "./app/ports/HostPort.ts"
import type { UserConfig } from "./app/ports/UserConfigPort.ts"
import type { Server } from "./Server.ts"
import type { McpServerOptions } from "./McpServer.ts"
import { make as makePeer } from "./jsonrpc/Peer.ts"

/** Options of one connection of the app-server. Every one has a default. */
export interface AppServerOptions {
  /** What `userAgent` begins with. Default `colloquy`. */
  readonly userAgent?: string
  /** How long requests, and turns that the client listens to, may go on after end of input. Default 500 ms. */
  readonly shutdownGrace?: Duration.Input
  /** Requests served at once. Default 1,024. */
  readonly maxInFlight?: number
  /** Names the dialect that an unknown method belongs to, for its error. Default: the error names the method alone. */
  readonly findDialect?: FindDialect
}

/** What no request is: its name is not known, or that of a notification. */
const noRequest = (name: string, find: FindDialect | undefined) => {
  const methods = methodsOf(AppServer.clientToServer)
  if (methods.has(name)) return invalidRequest(`\`${name}\` is a notification, expected no \`id\``)
  const near = nearest(name, [...methods.keys()])
  const fault = `unknown method \`${name.slice(0, 80)}\``
  return unknownMethodRoute({
    method: name,
    spoken: AppServer.name,
    find,
    error: invalidRequest(near === undefined ? fault : `${fault}, did you mean \`${near}\`?`),
    fault: invalidRequest(fault).message,
  })
}

/**
 * Serves until end of input. Requests then in flight have `shutdownGrace` to be answered, and the turns that the client
 * listens to what is left of it to be told to their end, unless the connection breaks; what is left is stopped and
 * answered with an error (L9). Conversations live on in their manager; who comes back listens on by `after`. A server
 * without logins, programs or a configuration file provides `Auth.layerNone`, `HostPort.layerNone` or `UserConfig.layerNone`.
 */
export const serve = (
  connection: Connection,
  options: AppServerOptions = {},
): Effect.Effect<void, never, Server | Auth | HostPort | UserConfig> =>
  Effect.scoped(
    Effect.gen(function* () {
      const route = yield* makeHandlers({
        initializes: true,
        principal: connection.peer.principal,
        approvals: () => "camelCase",
        forms: () => false,
        userAgent: options.userAgent ?? "colloquy",
      })
      const peer = yield* makePeer({
        connection,
        adaptsEnvelope: true,
        local: AppServer.clientToServer,
        handlers: {
          [Initialized._tag]: () => initialized,
          [CancelRequest._tag]: cancelRequest,
        },
        route: (request) => route(request) ?? noRequest(request.method, options.findDialect),
        withdraw: ({ notify }, id) => notify(CancelRequest, [{ id }]),
        ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
        ...(options.shutdownGrace === undefined ? {} : { shutdownGrace: options.shutdownGrace }),
      })
      yield* peer.run
    }),
  )

const isForm = Schema.is(ApprovalForm)

type Beside = NonNullable<McpServerOptions["beside"]>

type Capabilities = Readonly<Record<string, unknown>>

const experimental = ({ experimental }: Capabilities, name: string): unknown =>
  typeof experimental === "object" && experimental !== null
    ? (experimental as Capabilities)[name]
    : undefined

const formOf = (capabilities: Capabilities): ApprovalForm => {
  const declared = experimental(capabilities, "approvals")
  return isForm(declared) ? declared : "snake_case"
}

/**
 * For `McpServer`: the same requests beside MCP on one connection, as the original served them up to 0.36. `initialize` is
 * that of MCP; questions are put in the words of that time unless the client declares `experimental.approvals`, and forms of
 * tool servers where it declares `experimental.elicitation`.
 */
export const beside = ({
  userAgent = "colloquy",
}: Pick<AppServerOptions, "userAgent"> = {}): Effect.Effect<
  Beside,
  never,
  Auth | HostPort | UserConfig
> =>
  Effect.map(
    Effect.context<Auth | HostPort | UserConfig>(),
    (ports): Beside =>
      (capabilities, { principal }) =>
        makeHandlers({
          initializes: false,
          principal,
          approvals: () => formOf(capabilities()),
          forms: () => experimental(capabilities(), "elicitation") === true,
          userAgent,
        }).pipe(Effect.updateContext((context) => Context.merge(context, ports))),
  )
