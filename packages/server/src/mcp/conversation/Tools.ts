/** The conversation tools by name: decodes the arguments, runs the handler, makes the result. */
import type { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolDefinition } from "@colloquy/protocol/mcp/CodexTools"
import * as Tools from "@colloquy/protocol/mcp/ConversationTools"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import type { Pure } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { InputRequired } from "../RequestContext.ts"
import type { Call } from "./Call.ts"
import { create, fork, remove } from "./Lifecycle.ts"
import { interrupt, list, status } from "./Look.ts"
import { badArguments, failed, notSent, type Refused, told, type Value } from "./Results.ts"
import { sendMessage } from "./SendMessage.ts"
import { stream } from "./Stream.ts"
import { wait } from "./Wait.ts"

type Services = ConversationsView | SettingsResolver

type Run = (
  args: unknown,
  call: Call,
) => Effect.Effect<CallToolResult, InputRequired | JsonRpcError, Services>

const runnable = <A extends Pure>(
  tool: ToolDefinition<A>,
  run: (
    args: A["Type"],
    call: Call,
  ) => Effect.Effect<Value, Refused | InputRequired | JsonRpcError, Services>,
  fail: (message: string) => CallToolResult = failed,
): readonly [string, Run] => [
  tool.name,
  (args, call) => {
    const decoded = decodeArguments(tool, args ?? {})
    return decoded._tag === "Failure"
      ? Effect.succeed(fail(badArguments(tool.name, decoded.failure)))
      : run(decoded.success, call).pipe(
          Effect.map(told),
          Effect.catchTag("Refused", ({ message }) => Effect.succeed(fail(message))),
        )
  },
]

/** Without arguments a tool is run as with none of them. */
export const conversationRuns: ReadonlyMap<string, Run> = new Map([
  runnable(Tools.ConversationCreate, create),
  runnable(Tools.ConversationSendMessage, sendMessage, notSent),
  runnable(Tools.ConversationStream, stream),
  runnable(Tools.ConversationsList, list),
  runnable(Tools.ConversationInterrupt, interrupt),
  runnable(Tools.ConversationStatus, status),
  runnable(Tools.ConversationWait, wait),
  runnable(Tools.ConversationFork, fork),
  runnable(Tools.ConversationRemove, remove),
])
