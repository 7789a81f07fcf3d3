/** `cancelLoginChatGpt` (§3.10). */
import type { CancelLoginChatGpt } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { loginNotFound } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"
import { answerFirst } from "../subscriptions/TellAfter.ts"

export const cancelLoginChatGpt: AppHandler<typeof CancelLoginChatGpt> = Effect.fnUntraced(
  function* ({ loginId }, call) {
    const auth = yield* Auth
    answerFirst(call)
    yield* Effect.mapError(auth.cancelLogin(loginId), () => loginNotFound(loginId))
    return {}
  },
)
