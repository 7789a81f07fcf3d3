/** The conversation tools by name: reads the arguments, runs the tool, and makes the result of its value or refusal. */
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolDefinition } from "@colloquy/protocol/mcp/CodexTools"
import * as Tools from "@colloquy/protocol/mcp/ConversationTools"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import type { Pure } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { MakeInvoke, ToolServices } from "../codex/OwnTool.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { conversationCreate } from "./ConversationCreate.ts"
import { conversationFork } from "./ConversationFork.ts"
import { conversationInterrupt } from "./ConversationInterrupt.ts"
import { conversationRemove } from "./ConversationRemove.ts"
import { conversationSendMessage } from "./ConversationSendMessage.ts"
import { conversationsList } from "./ConversationsList.ts"
import { conversationStatus } from "./ConversationStatus.ts"
import { conversationStream } from "./ConversationStream.ts"
import { conversationWait } from "./ConversationWait.ts"
import { badArguments, failure, notSent, type Refusal, success, type Value } from "./Results.ts"

/** @param fail makes the result of a failed call from its message */
const conversationTool = <A extends Pure>(
  tool: ToolDefinition<A>,
  run: (
    args: A["Type"],
    context: RequestContext,
    connection: ConnectionState,
  ) => Effect.Effect<Value, Refusal | InputRequired | JsonRpcError, ToolServices>,
  fail: (message: string) => CallToolResult = failure,
): readonly [string, MakeInvoke] => [
  tool.name,
  ({ connection, progress, services }) =>
    Effect.fnUntraced(
      function* (args, context) {
        yield* progress.open(context) ?? Effect.void
        const decoded = decodeArguments(tool, args ?? {})
        if (decoded._tag === "Failure") return fail(badArguments(tool.name, decoded.failure))
        return yield* run(decoded.success, context, connection).pipe(
          Effect.map(success),
          Effect.catchTags({
            Refused: ({ _meta, message }) =>
              Effect.succeed({ ...fail(message), ...(_meta === undefined ? {} : { _meta }) }),
            UnknownConversation: ({ message }) => Effect.succeed(fail(message)),
          }),
        )
      },
      Effect.scoped,
      Effect.provideContext(services),
    ),
]

/** A call without arguments is a call with an empty object. */
export const conversationTools: ReadonlyMap<string, MakeInvoke> = new Map([
  conversationTool(Tools.ConversationCreate, conversationCreate),
  conversationTool(Tools.ConversationSendMessage, conversationSendMessage, notSent),
  conversationTool(Tools.ConversationStream, conversationStream),
  conversationTool(Tools.ConversationsList, conversationsList),
  conversationTool(Tools.ConversationInterrupt, conversationInterrupt),
  conversationTool(Tools.ConversationStatus, conversationStatus),
  conversationTool(Tools.ConversationWait, conversationWait),
  conversationTool(Tools.ConversationFork, conversationFork),
  conversationTool(Tools.ConversationRemove, conversationRemove),
])
