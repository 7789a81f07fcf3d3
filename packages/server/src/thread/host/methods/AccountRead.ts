/** `account/read`: the account that the provider in use needs, if any. */
import type { Account, AccountRead } from "@colloquy/protocol/thread/Accounts"
import * as Effect from "effect/Effect"
import { cannotReadLogin } from "../../../app/AppErrors.ts"
import { Auth, type AuthStatus } from "../../../app/ports/AuthPort.ts"
import type { HostHandler } from "../HostCall.ts"

const accountOf = (method: AuthStatus["method"], email: string | undefined): Account | null => {
  switch (method) {
    case undefined:
      return null
    case "apikey":
      return { type: "apiKey" }
    case "chatgpt":
      // The stored tokens do not tell the plan.
      return { type: "chatgpt", email: email ?? null, planType: "unknown", workspaceName: null }
  }
}

/** Handler of the method. */
export const accountRead: HostHandler<typeof AccountRead> = Effect.fnUntraced(function* ({
  refreshToken,
}) {
  const auth = yield* Auth
  const { method, required } = yield* Effect.mapError(
    auth.status({ refresh: refreshToken === true }),
    cannotReadLogin,
  )
  const email =
    required && method === "chatgpt"
      ? yield* Effect.mapError(auth.email, cannotReadLogin)
      : undefined
  return {
    account: required ? accountOf(method, email) : null,
    userId: null,
    requiresOpenaiAuth: required,
    workspaceRouting: null,
  }
})
