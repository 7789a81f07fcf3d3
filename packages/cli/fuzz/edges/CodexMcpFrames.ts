/** The bytes that an MCP client writes to `colloquy mcp`, in every revision, together with the requests of the app-server. */
import { withLazyDialect } from "@colloquy/server/LazyDialect"
import * as AppServer from "@colloquy/server/AppServer"
import { ownServer } from "../frames/Services.ts"
import * as McpServer from "@colloquy/server/McpServer"
import type { Contract } from "@colloquy/protocol/emit/Contract"
import {
  Initialize,
  CodexEvent,
  Initialized,
  Ping,
  ToolsCall,
} from "@colloquy/protocol/mcp/CodexMcp"
import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import { handshakeVersions, MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { SubscriptionsListen } from "@colloquy/protocol/mcp/Subscriptions"
import { tasksExtension } from "@colloquy/protocol/mcp/Extensions"
import type { Edge } from "@colloquy/simulation/fuzz/Edge"
import { SeededRandom } from "@colloquy/simulation/SeededRandom"
import * as Effect from "effect/Effect"
import {
  answersOf,
  argumentsOf,
  callsOf,
  donorsOf,
  grouped,
  linesIn,
  recorded,
  unsolicited,
} from "../frames/Corpus.ts"
import { connectionEdge, type FrameEdgeOptions, sessionEdge } from "../frames/FrameEdge.ts"

const capabilities = {
  elicitation: {},
  roots: { listChanged: true },
  sampling: {},
  tasks: { requests: { elicitation: { create: {} } } },
  experimental: { [CodexEvent._tag]: {}, elicitation: true },
  extensions: { [tasksExtension]: {} },
}

const handshake = (protocolVersion: string) => [
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: Initialize._tag,
    params: { protocolVersion, capabilities, clientInfo: { name: "fuzz", version: "1" } },
  }),
  JSON.stringify({ jsonrpc: "2.0", method: Initialized._tag }),
]

const meta = {
  [MetaKey.protocolVersion]: statelessVersions[0],
  [MetaKey.clientInfo]: { name: "fuzz", version: "1" },
  [MetaKey.clientCapabilities]: capabilities,
  progressToken: "token",
}

type Call = ReturnType<typeof callsOf>[number]

const withMeta = (call: Call, own: object): Call => ({
  ...call,
  params: { ...(typeof call.params === "object" ? call.params : {}), _meta: own },
})

const toolCalls = (contract: Contract, draws: SeededRandom): ReadonlyArray<Call> =>
  [...codexTools, ...conversationTools].flatMap(({ name }) =>
    Array.from({ length: 3 }, (_, at) => ({
      method: ToolsCall._tag,
      isRequest: true,
      params: {
        name,
        arguments: argumentsOf(contract, name, draws),
        ...(at === 1 ? { task: { ttl: 60_000 } } : {}),
        ...(at === 2 ? { _meta: { progressToken: at } } : {}),
      },
    })),
  )

const corpusOf = (mcp: Contract, app: Contract) => {
  const draws = new SeededRandom(1)
  const calls = [...callsOf(mcp, draws, 4), ...toolCalls(mcp, draws)]
  const all = [...calls, ...callsOf(app, draws, 1)]
  const ofHandshakes = handshakeVersions.flatMap((version) =>
    grouped(handshake(version), all, draws, 40),
  )
  const batches = grouped(handshake("2025-03-26"), calls, draws, 20).map((input) => {
    const [first, second, ...rest] = linesIn([input])
    return new TextEncoder().encode(`${first}\n${second}\n[${rest.join(",")}]\n`)
  })
  const stateless = grouped(
    [],
    calls.map((call) => withMeta(call, meta)),
    draws,
    60,
  )
  const listening = grouped(
    [],
    [
      {
        method: SubscriptionsListen._tag,
        isRequest: true,
        params: { _meta: meta, notifications: {} },
      },
    ],
    draws,
    2,
  )
  const inputs = [...ofHandshakes, ...batches, ...stateless, ...listening]
  const answers = [...answersOf(mcp, draws), ...unsolicited, ...unsolicited]
  return {
    corpus: [...inputs, ...recorded("v0.153.4", "v0.29.0", "v0.29.0-app")],
    donors: donorsOf(inputs, answers),
  }
}

const optionsOf = (mcp: Contract, app: Contract): FrameEdgeOptions => ({
  name: "codex-mcp-frames",
  summary: "what a client writes to `colloquy mcp`: lines, messages, methods of all revisions",
  ...corpusOf(mcp, app),
  probe: Ping._tag,
  silences: true,
  bare: false,
  serve: (connection) =>
    Effect.flatMap(withLazyDialect(AppServer.beside()), (beside) =>
      McpServer.serve(connection, { maxInFlight: 32, ownTools: "all", pageSize: 3, beside }),
    ).pipe(Effect.provide(ownServer)),
})

/** The edges of the MCP server: one connection per input, and many inputs on one connection. */
export const codexMcpFrames = (mcp: Contract, app: Contract): ReadonlyArray<Edge> => {
  const options = optionsOf(mcp, app)
  return [
    connectionEdge(options),
    sessionEdge({
      ...options,
      name: "codex-mcp-sessions",
      summary: "the same, many inputs on one connection",
    }),
  ]
}
