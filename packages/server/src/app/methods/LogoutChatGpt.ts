/** `logoutChatGpt` (§3.10). */
import type { LogoutChatGpt } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { cannotReadLogin, internal } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"
import { answerFirst } from "../subscriptions/TellAfter.ts"

export const logoutChatGpt: AppHandler<typeof LogoutChatGpt> = Effect.fnUntraced(
  function* (_, call) {
    const auth = yield* Auth
    answerFirst(call)
    yield* Effect.mapError(auth.logout, ({ message }) => internal(`logout failed: ${message}`))
    // A key in the environment stays: then somebody is still logged in.
    const { method } = yield* Effect.mapError(auth.status({ refresh: false }), cannotReadLogin)
    const told = method === undefined ? {} : { authMethod: method }
    yield* call.connection.audience.authChanged(auth, told)
    return {}
  },
)
