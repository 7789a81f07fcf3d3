/** The JSON-RPC peer with the same two tools, for the cost of a call without a conversation. */
import { Initialize, CodexEvent, Initialized, ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import { negotiate } from "@colloquy/protocol/mcp/Initialize"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import type { Pure } from "@colloquy/protocol/Method"
import { jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import type { PeerControl } from "@colloquy/server/jsonrpc/Caller"
import * as Peer from "@colloquy/server/jsonrpc/Peer"
import type { PeerHandlers } from "@colloquy/server/jsonrpc/PeerOptions"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import { takeStdout } from "@colloquy/transport-stdio/Stdout"
import * as Effect from "effect/Effect"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as Schema from "effect/Schema"

const output = takeStdout()

const tool = <A extends Pure>(name: string, args: A) => ({
  name,
  arguments: args,
  inputSchema: jsonSchemaOf(args, { closed: true }),
})

const echo = tool("echo", Schema.Struct({ text: Schema.String }))

/** Sends notifications, `at` a time. */
const count = tool("count", Schema.Struct({ to: Schema.Int, at: Schema.Int }))

const said = (text: string, isError = false) => ({
  content: [{ type: "text" as const, text }],
  ...(isError ? { isError } : {}),
})

const event = (n: number) => ({
  _meta: { requestId: 1, threadId: "01a1fbac-e10d-7d86-b7b3-b69cddd5d1d6" },
  id: "0",
  msg: { type: "agent_message_delta" as const, delta: `${n} ` },
})

const counted = Effect.fnUntraced(function* (to: number, at: number, { notify }: PeerControl) {
  for (let n = 0; n < to; n += at) {
    const events = Array.from({ length: Math.min(at, to - n) }, (_, index) => event(n + index))
    // The client has stopped reading; the end of input follows.
    yield* Effect.orDie(notify(CodexEvent, events))
  }
  return said("done")
})

const handlers: PeerHandlers<typeof Initialize | typeof Initialized | typeof ToolsCall> = {
  [Initialize._tag]: ({ protocolVersion }) =>
    Effect.succeed({
      protocolVersion: negotiate(protocolVersion),
      capabilities: { tools: {} },
      serverInfo: { name: "peer", version: "0.0.0" },
    }),
  [Initialized._tag]: () => Effect.void,
  [ToolsCall._tag]: (call, { peer }) => {
    if (call.name === echo.name) {
      const read = decodeArguments(echo, call.arguments)
      return Effect.succeed(
        read._tag === "Success" ? said(read.success.text) : said(read.failure, true),
      )
    }
    const read = decodeArguments(count, call.arguments)
    return read._tag === "Success"
      ? counted(read.success.to, read.success.at, peer)
      : Effect.succeed(said(read.failure, true))
  },
}

const main = Effect.gen(function* () {
  const connection = yield* StdioConnection.make({ input: process.stdin, output })
  const peer = yield* Peer.make({
    connection,
    local: RpcGroup.make(Initialize, Initialized, ToolsCall),
    handlers,
    withdraw: () => Effect.void,
  })
  yield* peer.run
})

await Effect.runPromise(Effect.scoped(main))
