/** `sendUserTurn`: submits a message with the settings of its turn. Answered when it was accepted (L2). */
import { present } from "@colloquy/protocol/app/Fields"
import { coreItem } from "@colloquy/protocol/app/InputItem"
import type { SendUserTurn } from "@colloquy/protocol/app/Messages"
import type { Op } from "@colloquy/protocol/Op"
import * as Effect from "effect/Effect"
import { type AppHandler, find } from "../AppCall.ts"
import { settingsOf } from "../ConversationResult.ts"
import { submitInput } from "../SubmitInput.ts"

/** Handler of the method. */
export const sendUserTurn: AppHandler<typeof SendUserTurn> = Effect.fnUntraced(
  function* (params, call) {
    const { effort, submissionId, whileRunning = "wait" } = present(params)
    const conversation = yield* find(params.conversationId)
    // A relative path is resolved against the directory of the server, as in `newConversation`.
    const { cwd } = yield* settingsOf({ cwd: params.cwd, model: params.model })
    const op: Op = {
      type: "user_turn",
      items: params.items.map(coreItem),
      cwd,
      approval_policy: params.approvalPolicy,
      sandbox_policy: params.sandboxPolicy,
      model: params.model,
      effort: effort ?? null,
      summary: params.summary,
    }
    return yield* submitInput({ conversation, op, whileRunning, submissionId }, call)
  },
)
