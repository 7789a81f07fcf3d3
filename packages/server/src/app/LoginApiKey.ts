/** `loginApiKey` (§3.10). What is blank is no key: it would log out whoever is logged in, and be told as a login. */
import type { LoginApiKey } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AppHandler } from "./AppCall.ts"
import { internal, invalidRequest } from "./AppErrors.ts"
import { Auth } from "./AuthPort.ts"
import { answerFirst } from "./TellAfter.ts"

export const loginApiKey: AppHandler<typeof LoginApiKey> = Effect.fnUntraced(function* (
  { apiKey },
  call,
) {
  if (apiKey.trim() === "") return yield* invalidRequest("params.apiKey: expected a key")
  const auth = yield* Auth
  answerFirst(call)
  yield* Effect.mapError(auth.loginApiKey(Redacted.make(apiKey)), ({ message }) =>
    internal(`failed to save api key: ${message}`),
  )
  yield* call.connection.audience.authChanged(auth, { authMethod: "apikey" })
  return {}
})
