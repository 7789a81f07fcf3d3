/** `sendUserMessage`: submits a message. Answered when it was accepted, before any event that it causes (L2). */
import { present } from "@colloquy/protocol/app/Fields"
import { coreItem } from "@colloquy/protocol/app/InputItem"
import type { SendUserMessage } from "@colloquy/protocol/app/Messages"
import * as Effect from "effect/Effect"
import { type AppHandler, find } from "../AppCall.ts"
import { submitInput } from "../SubmitInput.ts"

/** Handler of the method. */
export const sendUserMessage: AppHandler<typeof SendUserMessage> = Effect.fnUntraced(
  function* (params, call) {
    const { submissionId, whileRunning = "queue" } = present(params)
    const conversation = yield* find(params.conversationId)
    const op = { type: "user_input" as const, items: params.items.map(coreItem) }
    return yield* submitInput({ conversation, op, whileRunning, submissionId }, call)
  },
)
