/** Checks the MCP client of Effect. It answers no questions, so the rule for unattended approvals decides. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, it } from "@effect/vitest"
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { home } from "../test/support/Home.ts"
import { server } from "./Driver.ts"
import { listening } from "./Listening.ts"

beforeAll(buildIfMissing)

const Output = Schema.Struct({ threadId: Schema.String, content: Schema.String })

type Protocol = McpProtocol.ProtocolAdapter<McpClient.ProtocolVersion>

type Client = Layer.Layer<McpClient.McpClient, Layer.Error<ReturnType<typeof McpClient.layerHttp>>>

const info = { name: "compat", version: "1" }
const settings = ['sandbox_mode="danger-full-access"']

const overStdio = (protocol: Protocol): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.map(server(settings), ({ args, command, env }) =>
    McpClient.layerStdio({
      ...info,
      command: ChildProcess.make(command, args, { env }),
      protocol,
    }).pipe(Layer.provide(NodeServices.layer)),
  )

const overHttp = (protocol: Protocol): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.map(listening(settings), ({ token, url }) =>
    McpClient.layerHttp({
      ...info,
      url: `${url}/mcp`,
      headers: { authorization: `Bearer ${token}` },
      protocol,
    }).pipe(Layer.provide(FetchHttpClient.layer)),
  )

const connected = (made: Effect.Effect<Client, never, Scope.Scope>) =>
  Effect.gen(function* () {
    const services = yield* Layer.build(yield* made)
    const client = yield* Effect.provideContext(McpClient.McpClient, services)
    const tools = yield* client.listTools()
    const call = (name: string, args_: Readonly<Record<string, unknown>>) => {
      const tool = tools.find((one) => one.name === name)
      return tool === undefined
        ? Effect.die(`no tool ${name}`)
        : client.callTool({ tool, arguments: args_, schema: Output })
    }
    return { client, call }
  })

const protocols: ReadonlyArray<Protocol> = [McpProtocol.v2025_11_25, McpProtocol.v2026_07_28]

const ways = protocols.flatMap((protocol) => [
  { protocol, over: "standard streams", made: overStdio(protocol) },
  { protocol, over: "HTTP", made: overHttp(protocol) },
])

describe.for(ways)(
  "effect/ai McpClient, $protocol.protocolVersion over $over",
  ({ made, protocol }) => {
    it.live("a conversation of two turns, each result as its schema says", () =>
      Effect.gen(function* () {
        const { call, client } = yield* connected(made)
        assert.strictEqual(client.protocolVersion, protocol.protocolVersion)
        assert.strictEqual(client.serverInfo?.name, "colloquy")
        const { content, threadId } = yield* call("codex", { prompt: "say one" })
        const second = yield* call("codex-reply", { threadId, prompt: "say two" })
        assert.deepStrictEqual([content, second.content], ["one", "two"])
        assert.strictEqual(second.threadId, threadId)
        const resources = yield* client.listResources()
        assert.include(
          resources.map(({ uri }) => uri),
          `colloquy://conversations/${threadId}`,
        )
      }),
    )

    it.live("a command that would be asked for does not run, and the turn goes on", () =>
      Effect.gen(function* () {
        const cwd = yield* home()
        const { call } = yield* connected(made)
        const ask = { prompt: "run: touch done.txt", cwd, "approval-policy": "untrusted" }
        const { content } = yield* call("codex", ask)
        assert.include(content, "rejected")
        assert.isFalse(existsSync(join(cwd, "done.txt")))
        const { content: allowed } = yield* call("codex", {
          ...ask,
          prompt: "run: touch done.txt && echo made",
          "approval-policy": "never",
        })
        assert.strictEqual(allowed, "Offline model: the tool finished and said: made")
        assert.isTrue(existsSync(join(cwd, "done.txt")))
      }),
    )
  },
)
