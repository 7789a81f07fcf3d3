/** `conversationWait`: until nothing runs or waits any more, within a bound. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "../../ConversationsView.ts"
import { type ConversationWait, waitBounds } from "@colloquy/protocol/mcp/ConversationTools"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { InputRequired } from "../RequestContext.ts"
import { bringAll } from "../elicitation/stateless/AskedConversation.ts"
import { type Call, find } from "./Call.ts"
import { stateOf, statusOf } from "./Look.ts"
import { raceQuestions } from "./RaceQuestions.ts"
import { Refused, type Value } from "./Results.ts"

/** What the last turn that ended said; `last` goes along. */
const untilIdle = (conversation: Conversation, last: { message: string | null }) =>
  Effect.gen(function* () {
    const listener = yield* conversation.attach({ from: 0 })
    /** Number of the first event that was not read. */
    let unread = 0
    while (true) {
      for (const delivery of yield* listener.take) {
        if (delivery._tag !== "Event") continue
        const { msg, seq } = delivery.event
        unread = seq + 1
        if (isTerminal(msg))
          last.message = msg.type === "task_complete" ? msg.last_agent_message : null
      }
      const state = yield* stateOf(conversation)
      if (statusOf(state) === "idle" && unread >= state.seq) return
    }
  }).pipe(
    Effect.scoped,
    Effect.catchTag("Done", () => Effect.fail(new Refused({ message: "the conversation ended" }))),
    Effect.mapError(({ message }) => new Refused({ message })),
  )

export const wait = Effect.fnUntraced(function* (
  args: (typeof ConversationWait)["arguments"]["Type"],
  call: Call,
): Effect.fn.Return<Value, Refused | InputRequired | JsonRpcError, ConversationsView> {
  const conversation = yield* find(args.conversation_id)
  const last: { message: string | null } = { message: null }
  if (call.stateless === true) yield* bringAll(conversation, call)
  const idle = untilIdle(conversation, last)
  const done = yield* Effect.timeoutOption(
    call.stateless === true ? raceQuestions(conversation, call, idle) : idle,
    args.timeout_ms ?? waitBounds.default,
  )
  return {
    conversation_id: conversation.id,
    status: statusOf(yield* stateOf(conversation)),
    timed_out: done._tag === "None",
    last_agent_message: last.message,
  }
})
