/**
 * Agrees on a revision with a server: by a handshake, or by asking a server without one which
 * revisions it supports.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { Initialize, CodexEvent, type CodexMcp, Initialized } from "@colloquy/protocol/mcp/CodexMcp"
import { type InitializeParams, protocolVersions } from "@colloquy/protocol/mcp/Initialize"
import type { Dialect, ResultOf } from "@colloquy/protocol/Method"
import { Discover } from "@colloquy/protocol/mcp/Discover"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Client from "../Client.ts"
import type { ConnectOptions } from "./McpConnectOptions.ts"
import type { ClientStatement } from "./Stateless.ts"

type Methods = typeof CodexMcp extends Dialect<infer C, infer _> ? C : never
type McpClient = Client.Client<Methods>
type Server = ResultOf<typeof Initialize>
type Failure = JsonRpcError | ConnectionClosed

const newestStateless = statelessVersions[0]

const capabilitiesOf = (
  options: ConnectOptions,
  experimental: InitializeParams["capabilities"],
): InitializeParams["capabilities"] => ({
  ...(options.onElicitation === undefined ? {} : { elicitation: {} }),
  ...experimental,
  ...options.capabilities,
})

const misfit = (supported: unknown, expected: ReadonlyArray<string>) =>
  new JsonRpcError({
    code: ErrorCode.invalidParams,
    message: `the server speaks protocol revision ${JSON.stringify(supported)}, expected one of ${expected.join(", ")}`,
  })

const performHandshake = (
  client: McpClient,
  options: ConnectOptions,
  offered: string,
): Effect.Effect<Server, Failure> =>
  Effect.gen(function* () {
    const asked =
      options.events === undefined
        ? {}
        : { experimental: { [CodexEvent._tag]: { enabled: options.events } } }
    const server = yield* client.request(
      Initialize,
      {
        protocolVersion: offered,
        capabilities: capabilitiesOf(options, asked),
        clientInfo: options.clientInfo,
      },
      // MCP forbids cancelling the handshake.
      { cancellable: false },
    )
    if (!protocolVersions.some((version) => version === server.protocolVersion)) {
      return yield* misfit(server.protocolVersion, protocolVersions)
    }
    yield* client.notify(Initialized, undefined)
    return server
  })

const readInfo = Schema.decodeUnknownOption(
  Schema.Struct({ name: Schema.String, version: Schema.String }),
)

/** Used when a server does not name itself. */
const nameless = { name: "", version: "" }

const discover = (client: McpClient, revision: string): Effect.Effect<Server, Failure> =>
  Effect.gen(function* () {
    const { _meta, supportedVersions, ...server } = yield* client.request(Discover, {})
    if (!supportedVersions.includes(revision)) return yield* misfit(supportedVersions, [revision])
    const serverInfo = Option.getOrElse(readInfo(_meta?.[MetaKey.serverInfo]), () => nameless)
    return { ...server, protocolVersion: revision, serverInfo }
  })

/** What the client states in each request of a revision without a handshake. */
const statelessOf = (options: ConnectOptions, revision: string): ClientStatement => ({
  revision,
  clientInfo: options.clientInfo,
  capabilities: capabilitiesOf(
    options,
    options.onEvent === undefined || options.events === false
      ? {}
      : { experimental: { [CodexEvent._tag]: {} } },
  ),
})

/**
 * Uses the requested revision, or determines one. `setStatement` is called before the first request of a
 * revision without a handshake, and with undefined when a handshake follows after all.
 */
export const negotiate = (
  client: McpClient,
  options: ConnectOptions,
  setStatement: (statement: ClientStatement | undefined) => void,
): Effect.Effect<Server, Failure> =>
  Effect.gen(function* () {
    const wanted = options.protocolVersion ?? protocolVersions[0]
    const revision = wanted === "auto" ? newestStateless : wanted
    if (!statelessVersions.some((version) => version === revision)) {
      return yield* performHandshake(client, options, wanted)
    }
    setStatement(statelessOf(options, revision))
    const found = discover(client, revision)
    if (wanted !== "auto") return yield* found
    return yield* Effect.catchTag(found, "JsonRpcError", () => {
      setStatement(undefined)
      return performHandshake(client, options, protocolVersions[0])
    })
  })
