/** `loginApiKey` (§3.10). */
import type { LoginApiKey } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AppHandler } from "../AppCall.ts"
import { internal } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"
import { answerFirst } from "../subscriptions/TellAfter.ts"

export const loginApiKey: AppHandler<typeof LoginApiKey> = Effect.fnUntraced(function* (
  { apiKey },
  call,
) {
  const auth = yield* Auth
  answerFirst(call)
  yield* Effect.mapError(auth.loginApiKey(Redacted.make(apiKey)), ({ message }) =>
    internal(`failed to save api key: ${message}`),
  )
  yield* call.connection.audience.authChanged(auth, { authMethod: "apikey" })
  return {}
})
