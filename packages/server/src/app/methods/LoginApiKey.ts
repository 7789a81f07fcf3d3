/** `loginApiKey`: logs in with a key. All connections of the login are notified after the response (L2). */
import type { LoginApiKey } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AppHandler } from "../AppCall.ts"
import { internal } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"
import { noticesKey } from "../subscriptions/ConnectionNotices.ts"

/** Handler of the method. */
export const loginApiKey: AppHandler<typeof LoginApiKey> = Effect.fnUntraced(function* (
  { apiKey },
  { connection, hold },
) {
  const auth = yield* Auth
  hold(noticesKey)
  yield* Effect.mapError(auth.loginApiKey(Redacted.make(apiKey)), ({ message }) =>
    internal(`failed to save api key: ${message}`),
  )
  yield* connection.broadcast.authChanged(auth, { authMethod: "apikey" })
  return {}
})
