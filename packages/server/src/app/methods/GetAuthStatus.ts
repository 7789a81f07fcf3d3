/** `getAuthStatus`: whether and how the user is logged in. Contains the token only if the client asks for it. */
import type { GetAuthStatus } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AppHandler } from "../AppCall.ts"
import { cannotReadLogin } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"

/** Handler of the method. */
export const getAuthStatus: AppHandler<typeof GetAuthStatus> = Effect.fnUntraced(function* ({
  includeToken,
  refreshToken,
}) {
  const auth = yield* Auth
  const { method, required, token } = yield* Effect.mapError(
    auth.status({ refresh: refreshToken === true }),
    cannotReadLogin,
  )
  if (!required) return { requiresOpenaiAuth: false }
  return {
    ...(method === undefined ? {} : { authMethod: method }),
    ...(includeToken === true && token !== undefined ? { authToken: Redacted.value(token) } : {}),
    requiresOpenaiAuth: true,
  }
})
