/** `cancelLoginChatGpt`: ends a login attempt; its end is notified after the response (L2). */
import type { CancelLoginChatGpt } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { loginNotFound } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"
import { noticesKey } from "../subscriptions/ConnectionNotices.ts"

/** Handler of the method. */
export const cancelLoginChatGpt: AppHandler<typeof CancelLoginChatGpt> = Effect.fnUntraced(
  function* ({ loginId }, { hold }) {
    const auth = yield* Auth
    hold(noticesKey)
    yield* Effect.mapError(auth.cancelLogin(loginId), () => loginNotFound(loginId))
    return {}
  },
)
