/** Checks the MCP client of Effect. It answers no questions, so the rule for unattended approvals decides. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, it } from "@effect/vitest"
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { home } from "../test/support/Home.ts"
import { server } from "./Driver.ts"

beforeAll(buildIfMissing)

const Output = Schema.Struct({ threadId: Schema.String, content: Schema.String })

const connected = (protocol: McpProtocol.ProtocolAdapter<McpClient.ProtocolVersion>) =>
  Effect.gen(function* () {
    const { args, command, env } = yield* server(['sandbox_mode="danger-full-access"'])
    const services = yield* Layer.build(
      McpClient.layerStdio({
        name: "compat",
        version: "1",
        command: ChildProcess.make(command, args, { env }),
        protocol,
      }).pipe(Layer.provide(NodeServices.layer)),
    )
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

describe.for([McpProtocol.v2025_11_25, McpProtocol.v2026_07_28])(
  "effect/ai McpClient, $protocolVersion",
  (protocol) => {
    it.live("a conversation of two turns, each result as its schema says", () =>
      Effect.gen(function* () {
        const { call, client } = yield* connected(protocol)
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
        const { call } = yield* connected(protocol)
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
