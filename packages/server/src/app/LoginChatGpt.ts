/** `loginChatGpt` (§3.10): answered when the login has begun; its end is told, whatever it is. */
import {
  AuthStatusChange,
  type LoginChatGpt,
  LoginChatGptComplete,
} from "@colloquy/protocol/app/Account"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AppCall, AppHandler } from "./AppCall.ts"
import { internal } from "./AppErrors.ts"
import { Auth, type Login } from "./AuthPort.ts"
import { answerFirst, logins, tell } from "./TellAfter.ts"

const follow = Effect.fnUntraced(function* (
  { completed, loginId }: Login,
  { connection, peer }: AppCall,
): Effect.fn.Return<void> {
  const ended = yield* Effect.result(completed)
  yield* connection.holds.gate(logins)
  if (Result.isFailure(ended)) {
    const error = ended.failure.message
    yield* tell(peer, LoginChatGptComplete, { loginId, success: false, error })
  } else {
    yield* tell(peer, LoginChatGptComplete, { loginId, success: true })
    yield* tell(peer, AuthStatusChange, { authMethod: "chatgpt" })
  }
})

export const loginChatGpt: AppHandler<typeof LoginChatGpt> = Effect.fnUntraced(function* (_, call) {
  const auth = yield* Auth
  const then = answerFirst(call)
  const login = yield* Effect.mapError(auth.loginChatGpt, ({ message }) =>
    internal(`failed to start login server: ${message}`),
  )
  then(Effect.asVoid(Effect.forkIn(follow(login, call), call.connection.scope)))
  return { loginId: login.loginId, authUrl: login.authUrl }
})
