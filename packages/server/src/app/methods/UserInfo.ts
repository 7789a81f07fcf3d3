/** `userInfo`: the email address of the login, if it is known. */
import type { UserInfo } from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { cannotReadLogin } from "../AppErrors.ts"
import { Auth } from "../ports/AuthPort.ts"

/** Handler of the method. */
export const userInfo: AppHandler<typeof UserInfo> = Effect.fnUntraced(function* () {
  const auth = yield* Auth
  return { allegedUserEmail: (yield* Effect.mapError(auth.email, cannotReadLogin)) ?? null }
})
