/** The tools of a thread's clients: how `thread/start` defines them, and the request that has a client run one. */
import type { ClientTool } from "@colloquy/core/ClientTool"
import { ToolCall } from "@colloquy/protocol/thread/Questions"
import type { DynamicTool } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { resultOp } from "../questions/QuestionAnswer.ts"
import type { PresentCall } from "../questions/QuestionBroker.ts"
import { partOf } from "./items/ToolContents.ts"
import type { QuestionedThread } from "./ThreadQuestions.ts"

/** The tool as the core knows it. */
export const clientTool = ({
  description,
  inputSchema,
  name,
  namespace,
}: DynamicTool): ClientTool => ({
  name,
  description,
  inputSchema,
  ...(namespace == null ? {} : { namespace }),
})

/**
 * Has this client run its tool, under the id of its item. The thread is reported to wait for nothing meanwhile. Only a request
 * that is withdrawn is reported as resolved: the item tells the others.
 */
export const presentCall =
  ({ callOf, peer, sent, threadId }: QuestionedThread): PresentCall =>
  (call) => {
    const { arguments: args, call_id: id, namespace = null, tool } = call.msg
    const callId = callOf(id)?.id ?? id
    const params = { threadId, turnId: call.id, callId, namespace, tool, arguments: args }
    const answered = Effect.sync(() => sent.take(threadId, id))
    return peer
      .request(ToolCall, params, (request) => sent.add(threadId, id, request))
      .pipe(
        Effect.tap(answered),
        Effect.tapError(() => answered),
        Effect.map(({ contentItems, success }) =>
          Result.succeed(resultOp(call, { success, content: contentItems.map(partOf) })),
        ),
      )
  }
